import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import lighthouse, { desktopConfig } from 'lighthouse';
import { launchBrowser } from '../e2e/browser.ts';
import { atLeast, atMost, type Figure } from './figures.ts';
import { startGateway } from './gateway.ts';
import { median } from './stats.ts';

/** Minimum score of each category, of 100. */
const BARS = { performance: 95, accessibility: 100, 'best-practices': 100, seo: 100 } as const;
type Category = keyof typeof BARS;

interface Report {
  readonly scores: Record<Category, number>;
  /** Audits below the maximum, with their explanations. */
  readonly faults: string[];
  readonly layoutShift: number;
}

/** Lighthouse's desktop preset on the chat page of the production build, as somebody first sees it; the median of five. */
export async function lighthouseScores({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using perch = await startGateway();
  const reports: Report[] = [];
  for (let round = 0; round < (quick ? 1 : 5); round++) reports.push(await audited(perch.url));
  const faults = new Set(reports.flatMap((report) => report.faults));
  for (const fault of faults) console.error(`lighthouse: ${fault}`);
  const shift = Math.max(...reports.map(({ layoutShift }) => layoutShift));
  return [
    ...(Object.keys(BARS) as Category[]).map((category): Figure => {
      const score = median(reports.map(({ scores }) => scores[category]));
      return { what: `Lighthouse, desktop, ${category}`, unit: '', ours: score, bar: atLeast(score, BARS[category], '') };
    }),
    { what: '  layout shift, the worst', unit: '', ours: shift, bar: atMost(shift, 0, '') },
  ];
}

/** Each time in a browser that has never seen the app. */
async function audited(url: string): Promise<Report> {
  await using browser = await launchBrowser({ args: ['--remote-debugging-port=0'] });
  const [port] = readFileSync(join(browser.profile, 'DevToolsActivePort'), 'utf8').split('\n');
  const result = await lighthouse(url, { port: Number(port), logLevel: 'error' }, desktopConfig);
  if (!result || result.lhr.runtimeError) throw new Error(`Lighthouse: ${result?.lhr.runtimeError?.message ?? 'no result'}`);
  const { audits, categories } = result.lhr;
  const scores = Object.fromEntries(
    Object.keys(BARS).map((category) => [category, Math.round((categories[category]?.score ?? NaN) * 100)]),
  ) as Record<Category, number>;
  const faults = Object.values(audits).flatMap(({ id, score, scoreDisplayMode, title, displayValue = '' }) =>
    score !== null && score < 0.9 && scoreDisplayMode !== 'informative' ? [`${id}: ${title} ${displayValue}`.trim()] : [],
  );
  return { scores, faults, layoutShift: audits['cumulative-layout-shift']?.numericValue ?? NaN };
}
