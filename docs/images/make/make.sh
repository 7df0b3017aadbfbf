#!/usr/bin/env bash
# Takes the pictures of docs/editor.md again, with the schemas of this checkout.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp "$here"/{package.json,page.html,page.js,take.mjs} "$work"
"$root/.venv/bin/steelyard" schema -o "$work/schemas"
cd "$work"
npm install --no-audit --no-fund --no-package-lock
node take.mjs schemas "$here/.."
