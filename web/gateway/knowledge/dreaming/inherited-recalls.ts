import { type Pace, noPace } from './pace.ts';
import { parsePassages } from './parse-passages.ts';
import { normalizeText, type ShortTermSignal } from './signal.ts';

/**
 * A recalled excerpt often spans several passages of a file that are signals of their own. These inherit its recalls; the excerpt itself is
 * dropped if all of its passages are known.
 */
export async function inheritRecalls(signals: readonly ShortTermSignal[], pace: Pace = noPace): Promise<ShortTermSignal[]> {
  const texts = new Map<ShortTermSignal, string>();
  const pieces = new Map<ShortTermSignal, string[]>();
  for (const signal of signals) {
    texts.set(signal, normalizeText(signal.content));
    if (signal.recallCount > 0) pieces.set(signal, getPieces(signal));
    await pace();
  }
  const byFile = Map.groupBy(
    [...pieces.keys()].filter(({ untrusted }) => untrusted === undefined),
    getFile,
  );
  const known = new Set(texts.values());
  const isDivided = (signal: ShortTermSignal): boolean => {
    const own = pieces.get(signal) ?? [];
    return own.length > 1 && own.every((piece) => known.has(piece));
  };
  const result: ShortTermSignal[] = [];
  for (const signal of signals) {
    if (!isDivided(signal)) result.push(addRecalls(signal, byFile.get(getFile(signal)) ?? []));
    await pace();
  }
  return result;

  /** Adds the recalls of larger excerpts that contain the signal. */
  function addRecalls(signal: ShortTermSignal, file: readonly ShortTermSignal[]): ShortTermSignal {
    const text = texts.get(signal) ?? '';
    const containing = file.filter((other) => other !== signal && pieces.get(other)?.includes(text) === true);
    if (containing.length === 0) return signal;
    const recalls = [...signal.recalls, ...containing.flatMap((other) => other.recalls)].sort((a, b) => a.at - b.at);
    const recallCount = signal.recallCount + containing.reduce((sum, other) => sum + other.recallCount, 0);
    return { ...signal, query: signal.query || (containing[0]?.query ?? ''), recalls, recallCount };
  }
}

const getFile = ({ sourceRef }: ShortTermSignal): string => sourceRef.replace(/[#:].*$/, '');
const getPieces = ({ content }: ShortTermSignal): string[] => parsePassages(content).map(({ text }) => normalizeText(text));
