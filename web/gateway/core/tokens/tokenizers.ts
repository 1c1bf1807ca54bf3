import type { BytePairEncodingConfig, RawBytePairRanks } from 'gpt-tokenizer/BytePairEncodingCore';
import type { TokenFamily } from '#shared/tokens/family.ts';
import { breathe } from '../documents/breath.ts';
import { lazy } from '../lazy.ts';

/** Tokens of a text. Signs that stand for a special token are text here like any other. */
type Count = (text: string) => number;

const NEVER = new AbortController().signal;
/** Milliseconds of making a table ready after which others have their turn, and entries after which the time is looked at. */
const TURN_MS = 8;
const STEP = 500;

/**
 * A tokenizer from its table of ranks. The package would make its map of 200,000 texts in one piece, which takes 0.1 s and more: it is given only what is no text (1,500 entries of
 * bytes, which it sorts), and the texts are put into its map in steps.
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

/** The tokenizers whose tables are public and small enough to bring along: 2.4 and 1.2 MB. Making one ready takes 0.1 to 0.3 s, once; others have their turn between. */
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

/** Counts exactly in a family whose tokenizer is here; undefined for others, and where it cannot be loaded. */
export const tokenizerOf = async (family: TokenFamily): Promise<Count | undefined> => LOADERS[family]?.().catch(() => undefined);
