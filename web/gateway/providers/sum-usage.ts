import type { Usage } from '#shared/rpc/record-schemas.ts';

/** Undefined if both are undefined. */
export const sumOptional = (x: number | undefined, y: number | undefined): number | undefined =>
  x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0);

/** Sum of the usage of two calls. */
export function sumUsage(a: Usage, b: Usage): Usage {
  const cacheReadTokens = sumOptional(a.cacheReadTokens, b.cacheReadTokens);
  const cacheWriteTokens = sumOptional(a.cacheWriteTokens, b.cacheWriteTokens);
  const cacheWrite1hTokens = sumOptional(a.cacheWrite1hTokens, b.cacheWrite1hTokens);
  const cost = sumOptional(a.cost, b.cost);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(cacheWrite1hTokens === undefined ? {} : { cacheWrite1hTokens }),
    ...(cost === undefined ? {} : { cost }),
    ...(a.estimated || b.estimated ? { estimated: true } : {}),
  };
}
