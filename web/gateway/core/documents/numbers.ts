import { RpcError } from '#shared/rpc/errors.ts';

/**
 * Parses `1-5, 8, 12-` to numbers in that order, each once; undefined means all from 1 to `count`. Throws `INVALID_PARAMS` if there is
 * none.
 */
export function numbersIn(text: string | undefined, count: number, what: string): number[] {
  const all = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  if (text === undefined || text.trim() === '') return all(1, count);
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [, first, dash, last] = /^\s*(\d{1,7})\s*(?:([-–])\s*(\d{1,7})?)?\s*$/.exec(part) ?? [];
    if (first === undefined) throw new RpcError('INVALID_PARAMS', `Invalid ${what}s "${text.slice(0, 100)}". Use a form such as 1-5, 8.`);
    const to = dash === undefined ? Number(first) : Number(last ?? count);
    for (const number of all(Math.max(1, Number(first)), Math.min(to, count))) found.add(number);
  }
  if (found.size === 0) throw new RpcError('INVALID_PARAMS', `No ${what} ${text.slice(0, 100)}. The last ${what} is ${count}.`);
  return [...found];
}

/** The reverse: formats numbers as `1-5, 8`. */
export function numbersText(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(', ');
}
