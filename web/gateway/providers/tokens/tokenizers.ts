import type { BytePairEncodingConfig, RawBytePairRanks } from 'gpt-tokenizer/BytePairEncodingCore';
import type { TokenFamily } from '#shared/tokens/token-family.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { lazy } from '#shared/async/lazy.ts';

/** Counts the tokens of a text. Special-token markers count as plain text. */
type TokenCounter = (text: string) => number;

/** Number of entries between checks of the time. */
const CHECK_INTERVAL = 500;

/**
 * Creates a tokenizer from its table of ranks. The package would build its map of 200,000 texts at once, which takes at least 0.1 s: it
 * receives only the entries that are not text (1,500 byte entries, which it sorts), and the texts are added to its map in steps.
 */
async function createTokenizer(config: BytePairEncodingConfig): Promise<TokenCounter> {
  const { BytePairEncodingCore } = await import('gpt-tokenizer/BytePairEncodingCore');
  const ranks = config.bytePairRankDecoder;
  const bytes: RawBytePairRanks[number][] = [];
  ranks.forEach((token, rank) => {
    if (typeof token !== 'string') bytes[rank] = token;
  });
  const core = new BytePairEncodingCore({ ...config, bytePairRankDecoder: bytes });
  const texts: unknown = Reflect.get(core, 'bytePairStringRankEncoder');
  if (!(texts instanceof Map)) throw new Error('Unsupported version of gpt-tokenizer');
  const slicer = new TimeSlicer();
  for (let rank = 0; rank < ranks.length; rank++) {
    const token = ranks[rank];
    if (typeof token === 'string') texts.set(token, rank);
    if (rank % CHECK_INTERVAL === 0 && slicer.isDue) await slicer.pause();
  }
  return (text) => core.countNative(text);
}

/**
 * Tokenizers with tables that are public and small enough to include: 2.4 and 1.2 MB. Building one takes 0.1 to 0.3 s, once, yielding to
 * other tasks.
 */
const LOADERS: { readonly [Family in TokenFamily]?: () => Promise<TokenCounter> } = {
  o200k: lazy(async () => {
    const { default: ranks } = await import('gpt-tokenizer/bpeRanks/o200k_base');
    const { O200KBase } = await import('gpt-tokenizer/encodingParams/o200k_base');
    return createTokenizer(O200KBase(ranks));
  }),
  cl100k: lazy(async () => {
    const { default: ranks } = await import('gpt-tokenizer/bpeRanks/cl100k_base');
    const { Cl100KBase } = await import('gpt-tokenizer/encodingParams/cl100k_base');
    return createTokenizer(Cl100KBase(ranks));
  }),
};

/** Exact counter for a family with an included tokenizer; undefined for others, and if it cannot be loaded. */
export const loadTokenizer = async (family: TokenFamily): Promise<TokenCounter | undefined> => LOADERS[family]?.().catch(() => undefined);
