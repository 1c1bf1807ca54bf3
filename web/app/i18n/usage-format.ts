import { formatNumber } from './format.ts';

export const formatInteger = (value: number): string => formatNumber(value);
/** A count of tokens; with a mark if it includes estimates. */
export const formatTokens = (value: number, { estimatedCalls = 0 }: { estimatedCalls?: number | undefined }): string =>
  `${estimatedCalls > 0 ? '≈' : ''}${formatInteger(value)}`;
/** A share from 0 to 1; a dash if it is unknown. */
export const formatPercent = (share: number | undefined): string =>
  share === undefined ? '–' : formatNumber(share, { style: 'percent', maximumFractionDigits: share > 0 && share < 0.01 ? 1 : 0 });
/** Share of the input that was read from the provider's cache; undefined if no provider reports it. */
export const computeHitRate = ({
  inputTokens,
  cacheReadTokens,
}: {
  inputTokens: number;
  cacheReadTokens?: number | undefined;
}): number | undefined => (cacheReadTokens === undefined || inputTokens === 0 ? undefined : cacheReadTokens / inputTokens);
/** Short form for little space: `1.2M`. */
export const formatCompact = (value: number): string => formatNumber(value, { notation: 'compact', maximumFractionDigits: 1 });
