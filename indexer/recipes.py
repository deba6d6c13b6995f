"""What a library is built with, and what may be asked of it: recipes against encoders and settings."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from indexer.datatypes import Encoder, Recipe
from indexer.errors import RecipeMismatchError
from indexer.settings import Settings

if TYPE_CHECKING:
    from indexer.encode import EncoderSpec


def recipe_for(settings: Settings, encoder: Encoder | None = None) -> Recipe:
    """The recipe of a new library: as the settings say, with the encoder they name unless there is one already."""
    described: Encoder | EncoderSpec
    if encoder is None:
        from indexer.encode import describe_encoder

        described = describe_encoder(settings.encoder, settings)
    else:
        described = encoder
    return Recipe(
        encoder=described.name,
        fingerprint=described.fingerprint,
        dimension=described.dimension,
        query_prompt=described.query_prompt,
        document_prompt=described.document_prompt,
        encoder_pooling=described.pooling,
        chunk_tokens=settings.chunk_tokens,
        chunk_minimum=settings.chunk_minimum,
        document_pooling=settings.document_pooling,
        window=settings.window,
    )


def check_encoder(encoder: Encoder, recipe: Recipe) -> None:
    """Raises RecipeMismatchError when an encoder is not the one that a library was built with."""
    if encoder.fingerprint != recipe.fingerprint:
        raise RecipeMismatchError(
            f"The library was built with the encoder {recipe.encoder} ({recipe.fingerprint[:12]}), but {encoder.name} "
            f"here is {encoder.fingerprint[:12]}. Their embeddings cannot be compared: run `longdoc reindex` to encode "
            "the library with this one, or bring the other back."
        )


def chosen_for_recipe(settings: Settings) -> dict[str, Any]:
    """The settings that go into a recipe and that a person made: those that differ from the defaults."""
    defaults = {field.name: field.default for field in fields(Settings)}
    names = ("encoder", "chunk_tokens", "chunk_minimum", "document_pooling", "window")
    return {name: getattr(settings, name) for name in names if getattr(settings, name) != defaults[name]}


def check_settings(settings: Settings, recipe: Recipe) -> None:
    """Refuse settings a person made (those that differ from the defaults) where the library was built otherwise."""
    for name, asked in chosen_for_recipe(settings).items():
        built = getattr(recipe, name)
        if asked != built:
            raise RecipeMismatchError(
                f"The library was built with {name} {built}, and {asked} is asked for. Run `longdoc reindex` to build "
                f"it anew with {asked}, or leave the setting out."
            )
