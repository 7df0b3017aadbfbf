"""What to write for services that have no provider of their own: most speak one that there is."""

from __future__ import annotations

from urllib.parse import urlsplit

_AZURE = "base_url: https://NAME.openai.azure.com/openai/v1, api_key_env: AZURE_OPENAI_API_KEY"
_GEMINI = (
    "base_url: https://generativelanguage.googleapis.com/v1beta/openai, "
    "api_key_env: GEMINI_API_KEY"
)
_OLLAMA = "base_url: http://127.0.0.1:11434/v1"
_VLLM = "base_url: http://127.0.0.1:8000/v1"
_LLAMA = "base_url: http://127.0.0.1:8080/v1"
_SETTINGS = {
    "azure": _AZURE,
    "azure_openai": _AZURE,
    "azureopenai": _AZURE,
    "gemini": _GEMINI,
    "google": _GEMINI,
    "ollama": _OLLAMA,
    "vllm": _VLLM,
    "llamacpp": _LLAMA,
    "llama.cpp": _LLAMA,
    "litellm": "base_url: http://127.0.0.1:4000/v1",
    "lmstudio": "base_url: http://127.0.0.1:1234/v1",
    "openrouter": "base_url: https://openrouter.ai/api/v1, api_key_env: OPENROUTER_API_KEY",
    "mistral": "base_url: https://api.mistral.ai/v1, api_key_env: MISTRAL_API_KEY",
    "groq": "base_url: https://api.groq.com/openai/v1, api_key_env: GROQ_API_KEY",
    "deepseek": "base_url: https://api.deepseek.com/v1, api_key_env: DEEPSEEK_API_KEY",
    "bedrock": (
        "base_url: https://bedrock-runtime.REGION.amazonaws.com/openai/v1, "
        "api_key_env: AWS_BEARER_TOKEN_BEDROCK"
    ),
}
_BASES = {
    "api.openai.com": "https://api.openai.com/v1",
    "openrouter.ai": "https://openrouter.ai/api/v1",
    "api.mistral.ai": "https://api.mistral.ai/v1",
    "api.groq.com": "https://api.groq.com/openai/v1",
}
_PATHS = ("/chat/completions", "/completions", "/responses", "/v1/messages", "/messages")


def provider_hint(provider: str) -> str | None:
    """The line that asks a service, for a provider that is called as the service."""
    name = provider.lower().replace("-", "_")
    if name == "claude":
        return "write {provider: anthropic, model: …, api_key_env: ANTHROPIC_API_KEY}"
    settings = _SETTINGS.get(name)
    return f"write {{provider: openai, {settings}, model: …}}" if settings else None


def with_version(base_url: str) -> str | None:
    """The base of a known service whose path was left out; None for all other addresses."""
    parts = urlsplit(base_url)
    return _BASES.get(parts.netloc) if not parts.path.strip("/") else None


def without_path(base_url: str) -> str | None:
    """The base of an address that has the path of a call at its end; None without one."""
    base = base_url.rstrip("/")
    return next((base.removesuffix(path) for path in _PATHS if base.endswith(path)), None)
