import type { BytePairEncodingConfig, RawBytePairRanks } from 'gpt-tokenizer/BytePairEncodingCore';
import type { TokenFamily } from '#shared/tokens/family.ts';
import { breathe } from '../documents/breath.ts';
import { lazy } from '../lazy.ts';

/** Counts the tokens of a text. Special-token markers count as plain text. */
type Count = (text: string) => number;

const NEVER = new AbortController().signal;
/** Milliseconds of building a table between yields to other tasks, and number of entries between checks of the time. */
const TURN_MS = 8;
const STEP = 500;

/**
 * Creates a tokenizer from its table of ranks. The package would build its map of 200,000 texts at once, which takes at least 0.1 s: it
 * receives only the entries that are not text (1,500 byte entries, which it sorts), and the texts are added to its map in steps.
 */
async function counterOf(config: BytePairEncodingConfig): Promise<Count> {
  const { BytePairEncodingCore } = await import('gpt-tokenizer/BytePairEncodingCore');
  const ranks = config.bytePairRankDecoder;
  const bytes: RawBytePairRanks[number][] = [];
  ranks.forEach((token, rank) => {
    if (typeof token !== 'string') bytes[rank] = token;
  });
  const core = new BytePairEncodingCore({ ...config, bytePairRankDecoder: bytes });
  const texts: unknown = Reflect.get(core, 'bytePairStringRankEncoder');
  if (!(texts instanceof Map)) throw new Error('Unsupported version of gpt-tokenizer');
  let since = performance.now();
  for (let rank = 0; rank < ranks.length; rank++) {
    const token = ranks[rank];
    if (typeof token === 'string') texts.set(token, rank);
    if (rank % STEP !== 0 || performance.now() - since < TURN_MS) continue;
    await breathe(NEVER);
    since = performance.now();
  }
  return (text) => core.countNative(text);
}

/**
 * Tokenizers with tables that are public and small enough to include: 2.4 and 1.2 MB. Building one takes 0.1 to 0.3 s, once, yielding to
 * other tasks.
 */
const LOADERS: { readonly [Family in TokenFamily]?: () => Promise<Count> } = {
  o200k: lazy(async () => {
    const { default: ranks } = await import('gpt-tokenizer/bpeRanks/o200k_base');
    const { O200KBase } = await import('gpt-tokenizer/encodingParams/o200k_base');
    return counterOf(O200KBase(ranks));
  }),
  cl100k: lazy(async () => {
    const { default: ranks } = await import('gpt-tokenizer/bpeRanks/cl100k_base');
    const { Cl100KBase } = await import('gpt-tokenizer/encodingParams/cl100k_base');
    return counterOf(Cl100KBase(ranks));
  }),
};

/** Exact counter for a family with an included tokenizer; undefined for others, and if it cannot be loaded. */
export const tokenizerOf = async (family: TokenFamily): Promise<Count | undefined> => LOADERS[family]?.().catch(() => undefined);
