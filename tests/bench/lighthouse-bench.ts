import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import lighthouse, { desktopConfig } from 'lighthouse';
import { launchBrowser } from '../e2e/test-browser.ts';
import { toMinBar, toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { computeMedian } from './stats.ts';

/** Minimum score of each category, out of 100. */
const MIN_SCORES = { performance: 95, accessibility: 100, 'best-practices': 100, seo: 100 } as const;
type Category = keyof typeof MIN_SCORES;

interface LighthouseReport {
  readonly scores: Record<Category, number>;
  /** Audits below the maximum, with their explanations. */
  readonly faults: string[];
  readonly layoutShift: number;
}

/** Lighthouse's desktop preset on the chat page of the production build at the first visit; the median of five runs. */
export async function benchLighthouse({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using perch = await startBenchGateway();
  const reports: LighthouseReport[] = [];
  for (let round = 0; round < (quick ? 1 : 5); round++) reports.push(await auditPage(perch.url));
  const faults = new Set(reports.flatMap((report) => report.faults));
  for (const fault of faults) console.error(`lighthouse: ${fault}`);
  const shift = Math.max(...reports.map(({ layoutShift }) => layoutShift));
  return [
    ...(Object.keys(MIN_SCORES) as Category[]).map((category): Figure => {
      const score = computeMedian(reports.map(({ scores }) => scores[category]));
      return { what: `Lighthouse, desktop, ${category}`, unit: '', ours: score, bar: toMinBar(score, MIN_SCORES[category], '') };
    }),
    { what: '  layout shift, the worst', unit: '', ours: shift, bar: toMaxBar(shift, 0, '') },
  ];
}

/** Each run uses a new browser profile. */
async function auditPage(url: string): Promise<LighthouseReport> {
  await using browser = await launchBrowser({ args: ['--remote-debugging-port=0'] });
  const [port] = readFileSync(join(browser.profile, 'DevToolsActivePort'), 'utf8').split('\n');
  const result = await lighthouse(url, { port: Number(port), logLevel: 'error' }, desktopConfig);
  if (!result || result.lhr.runtimeError) throw new Error(`Lighthouse: ${result?.lhr.runtimeError?.message ?? 'no result'}`);
  const { audits, categories } = result.lhr;
  const scores = Object.fromEntries(
    Object.keys(MIN_SCORES).map((category) => [category, Math.round((categories[category]?.score ?? NaN) * 100)]),
  ) as Record<Category, number>;
  const faults = Object.values(audits).flatMap(({ id, score, scoreDisplayMode, title, displayValue = '' }) =>
    score !== null && score < 0.9 && scoreDisplayMode !== 'informative' ? [`${id}: ${title} ${displayValue}`.trim()] : [],
  );
  return { scores, faults, layoutShift: audits['cumulative-layout-shift']?.numericValue ?? NaN };
}
