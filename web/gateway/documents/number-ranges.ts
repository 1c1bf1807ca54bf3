import { RpcError } from '#shared/rpc/rpc-error.ts';

/**
 * Parses `1-5, 8, 12-` to numbers in that order, each once; undefined means all from 1 to `count`. Throws `INVALID_PARAMS` if there is
 * none.
 */
export function parseNumberRanges(text: string | undefined, count: number, unit: string): number[] {
  const createRange = (from: number, to: number): number[] =>
    Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  if (text === undefined || text.trim() === '') return createRange(1, count);
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [, first, dash, last] = /^\s*(\d{1,7})\s*(?:([-–])\s*(\d{1,7})?)?\s*$/.exec(part) ?? [];
    if (first === undefined) throw new RpcError('INVALID_PARAMS', `Invalid ${unit}s "${text.slice(0, 100)}". Use a form such as 1-5, 8.`);
    const to = dash === undefined ? Number(first) : Number(last ?? count);
    for (const number of createRange(Math.max(1, Number(first)), Math.min(to, count))) found.add(number);
  }
  if (found.size === 0) throw new RpcError('INVALID_PARAMS', `No ${unit} ${text.slice(0, 100)}. The last ${unit} is ${count}.`);
  return [...found];
}

/** The reverse: formats numbers as `1-5, 8`. */
export function formatNumberRanges(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(', ');
}
