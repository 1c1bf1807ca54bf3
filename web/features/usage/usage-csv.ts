import type { UsageReport, UsageSums } from './types.ts';

const HEADER = [
  'kind',
  'name',
  'calls',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cost_usd',
  'cache_read_tokens',
  'cache_write_tokens',
  'estimated_calls',
];

/**
 * Formats a report as CSV (RFC 4180): a row for each day, hour of the day, provider, model, key and purpose. Hours have only the number of
 * calls. Names that a spreadsheet would take for a formula are prefixed with an apostrophe.
 */
export function toUsageCsv({ totals, days, hours }: UsageReport): string {
  const rows = [
    HEADER,
    ...days.map(({ date, ...sums }) => ['day', date, ...toFigures(sums)]),
    ...hours.map((calls, hour) => ['hour', String(hour).padStart(2, '0'), String(calls), ...HEADER.slice(3).map(() => '')]),
    ...toNamedRows('provider', totals.byProvider),
    ...toNamedRows('model', totals.byModel),
    ...toNamedRows('key', totals.byKey),
    ...toNamedRows('purpose', totals.byPurpose),
  ];
  return rows.map((row) => `${row.map(quoteCell).join(',')}\r\n`).join('');
}

const toNamedRows = (kind: string, table: Readonly<Record<string, UsageSums>>): string[][] =>
  Object.entries(table).map(([name, sums]) => [kind, /^[=+\-@\t\r]/.test(name) ? `'${name}` : name, ...toFigures(sums)]);

const toFigures = ({
  calls,
  inputTokens,
  outputTokens,
  totalTokens,
  cost,
  cacheReadTokens,
  cacheWriteTokens,
  estimatedCalls,
}: UsageSums): string[] =>
  [calls, inputTokens, outputTokens, totalTokens, cost, cacheReadTokens ?? '', cacheWriteTokens ?? '', estimatedCalls ?? ''].map(String);

const quoteCell = (value: string): string => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
