"""The check lm-eval is given; runs in the environment of lm-eval."""


def process_results(doc: dict[str, str], results: list[str]) -> dict[str, float]:
    """Whether the answer contains the target."""
    return {"contains": float(doc["target"] in results[0])}
