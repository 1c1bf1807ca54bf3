import type { UsageReport, UsageSums } from './types.ts';

const HEAD = [
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
 * A report as a table (RFC 4180): a row for each day, hour of the day, provider, model and key. Of hours only the calls are known. Names that a
 * spreadsheet would take for a formula have an apostrophe before them.
 */
export function usageCsv({ totals, days, hours }: UsageReport): string {
  const rows = [
    HEAD,
    ...days.map(({ date, ...sums }) => ['day', date, ...figures(sums)]),
    ...hours.map((calls, hour) => ['hour', String(hour).padStart(2, '0'), String(calls), ...HEAD.slice(3).map(() => '')]),
    ...named('provider', totals.byProvider),
    ...named('model', totals.byModel),
    ...named('key', totals.byKey),
    ...named('purpose', totals.byPurpose),
  ];
  return rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');
}

const named = (kind: string, table: Readonly<Record<string, UsageSums>>): string[][] =>
  Object.entries(table).map(([name, sums]) => [kind, /^[=+\-@\t\r]/.test(name) ? `'${name}` : name, ...figures(sums)]);

const figures = ({
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

const quoted = (value: string): string => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
