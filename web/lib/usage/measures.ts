import { number as written } from '#lib/i18n/format.ts';

export const number = (value: number): string => written(value);
/** A count of tokens; with a mark if it includes estimates. */
export const tokens = (value: number, { estimatedCalls = 0 }: { estimatedCalls?: number | undefined }): string =>
  `${estimatedCalls > 0 ? '≈' : ''}${number(value)}`;
/** A share from 0 to 1; a dash if it is unknown. */
export const percent = (share: number | undefined): string =>
  share === undefined ? '–' : written(share, { style: 'percent', maximumFractionDigits: share > 0 && share < 0.01 ? 1 : 0 });
/** Share of the input that was read from the provider's cache; undefined if no provider reports it. */
export const computeHitRate = ({
  inputTokens,
  cacheReadTokens,
}: {
  inputTokens: number;
  cacheReadTokens?: number | undefined;
}): number | undefined => (cacheReadTokens === undefined || inputTokens === 0 ? undefined : cacheReadTokens / inputTokens);
/** Short form for little space: `1.2M`. */
export const compact = (value: number): string => written(value, { notation: 'compact', maximumFractionDigits: 1 });
