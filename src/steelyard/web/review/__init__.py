"""The pages on which people answer: queues, the annotation page, adjudication and agreement."""
