import { type Pace, unhurried } from './pace.ts';
import { passagesOf } from './passages.ts';
import { normalized, type ShortTermSignal } from './signal.ts';

/**
 * A recalled excerpt often spans several passages of a file that are signals of their own. These inherit its recalls; the excerpt itself is
 * dropped if all of its passages are known.
 */
export async function withBorrowedRecalls(signals: readonly ShortTermSignal[], pace: Pace = unhurried): Promise<ShortTermSignal[]> {
  const texts = new Map<ShortTermSignal, string>();
  const pieces = new Map<ShortTermSignal, string[]>();
  for (const signal of signals) {
    texts.set(signal, normalized(signal.content));
    if (signal.recallCount > 0) pieces.set(signal, piecesOf(signal));
    await pace();
  }
  const byFile = Map.groupBy(
    [...pieces.keys()].filter(({ untrusted }) => untrusted === undefined),
    fileOf,
  );
  const known = new Set(texts.values());
  const isDivided = (signal: ShortTermSignal): boolean => {
    const own = pieces.get(signal) ?? [];
    return own.length > 1 && own.every((piece) => known.has(piece));
  };
  const lent: ShortTermSignal[] = [];
  for (const signal of signals) {
    if (!isDivided(signal)) lent.push(withRecallsOf(signal, byFile.get(fileOf(signal)) ?? []));
    await pace();
  }
  return lent;

  /** Adds the recalls of larger excerpts that contain the signal. */
  function withRecallsOf(signal: ShortTermSignal, file: readonly ShortTermSignal[]): ShortTermSignal {
    const text = texts.get(signal) ?? '';
    const wholes = file.filter((each) => each !== signal && pieces.get(each)?.includes(text) === true);
    if (wholes.length === 0) return signal;
    const recalls = [...signal.recalls, ...wholes.flatMap((each) => each.recalls)].sort((a, b) => a.at - b.at);
    const recallCount = signal.recallCount + wholes.reduce((sum, each) => sum + each.recallCount, 0);
    return { ...signal, query: signal.query || (wholes[0]?.query ?? ''), recalls, recallCount };
  }
}

const fileOf = ({ sourceRef }: ShortTermSignal): string => sourceRef.replace(/[#:].*$/, '');
const piecesOf = ({ content }: ShortTermSignal): string[] => passagesOf(content).map(({ text }) => normalized(text));
