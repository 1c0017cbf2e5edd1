"""The Transformer around the attention layer: block, encoder, decoder, and the two together."""

from mha_course.transformer.block import FeedForward, Residual
from mha_course.transformer.decoder import Decoder, DecoderLayer, DecoderTraces
from mha_course.transformer.encoder import Encoder, EncoderLayer
from mha_course.transformer.whole import DecodingStep, TokenEmbedding, Transformer, TransformerMaps

__all__ = [
    "Decoder",
    "DecoderLayer",
    "DecoderTraces",
    "DecodingStep",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "Residual",
    "TokenEmbedding",
    "Transformer",
    "TransformerMaps",
]
