import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import lighthouse, { desktopConfig, type Config, type Result } from 'lighthouse';
import { launchBrowser } from '../e2e/test-browser.ts';
import { toMinBar, toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { computeMedian } from './stats.ts';

const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const;
type Category = (typeof CATEGORIES)[number];

/** Minimum score of each category on a desktop, out of 100. */
const MIN_SCORE = 100;

/** Minimum performance score with Lighthouse's phone preset. */
const MIN_MOBILE_PERFORMANCE = 95;

/** A processor slowed down four times, measured rather than simulated; the network is not slowed down. */
const SLOW_PROCESSOR: Config = {
  ...desktopConfig,
  settings: {
    ...desktopConfig.settings,
    throttlingMethod: 'devtools',
    throttling: {
      cpuSlowdownMultiplier: 4,
      rttMs: 0,
      throughputKbps: 0,
      requestLatencyMs: 0,
      downloadThroughputKbps: 0,
      uploadThroughputKbps: 0,
    },
  },
};
const MAX_LCP_MS = 1200;
const MAX_TBT_MS = 150;

interface LighthouseReport {
  readonly scores: Record<Category, number>;
  /** Audits below the maximum, with their explanations. */
  readonly faults: string[];
  readonly layoutShift: number;
  /** Largest contentful paint in milliseconds. */
  readonly lcp: number;
  /** Total blocking time in milliseconds. */
  readonly tbt: number;
}

/** Lighthouse on the production build at the first visit: the desktop preset on three pages, the phone's and a slow processor on the first. */
export async function benchLighthouse({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using perch = await startBenchGateway();
  const rounds = quick ? 1 : 5;
  const figures: Figure[] = [];
  for (const path of ['/', '/?demo', '/annotate']) {
    const reports = await auditPage(`${perch.url}${path}`, rounds, desktopConfig);
    for (const category of CATEGORIES) {
      const score = computeMedian(reports.map(({ scores }) => scores[category]));
      figures.push({ what: `Lighthouse, desktop, ${path}, ${category}`, unit: '', ours: score, bar: toMinBar(score, MIN_SCORE, '') });
    }
    const shift = Math.max(...reports.map(({ layoutShift }) => layoutShift));
    figures.push({ what: '  layout shift, the worst', unit: '', ours: shift, bar: toMaxBar(shift, 0, '') });
  }

  const mobile = await auditPage(`${perch.url}/`, rounds);
  const score = computeMedian(mobile.map(({ scores }) => scores.performance));
  figures.push({ what: 'Lighthouse, phone, /, performance', unit: '', ours: score, bar: toMinBar(score, MIN_MOBILE_PERFORMANCE, '') });

  const slow = await auditPage(`${perch.url}/`, rounds, SLOW_PROCESSOR);
  const lcp = computeMedian(slow.map((report) => report.lcp));
  const tbt = computeMedian(slow.map((report) => report.tbt));
  figures.push(
    { what: 'Processor slowed four times: largest contentful paint', unit: 'ms', ours: lcp, bar: toMaxBar(lcp, MAX_LCP_MS, 'ms') },
    { what: '  total blocking time', unit: 'ms', ours: tbt, bar: toMaxBar(tbt, MAX_TBT_MS, 'ms') },
  );
  return figures;
}

async function auditPage(url: string, rounds: number, config?: Config): Promise<LighthouseReport[]> {
  const reports: LighthouseReport[] = [];
  for (let round = 0; round < rounds; round++) reports.push(await auditOnce(url, config));
  for (const fault of new Set(reports.flatMap((report) => report.faults))) console.error(`lighthouse, ${new URL(url).pathname}: ${fault}`);
  return reports;
}

/** Lighthouse now and then loses the start of its trace (`NO_NAVSTART`), and asks to be run again. */
async function runLighthouse(url: string, config: Config | undefined, attempts = 3): Promise<Result> {
  await using browser = await launchBrowser({ args: ['--remote-debugging-port=0'] });
  const [port] = readFileSync(join(browser.profile, 'DevToolsActivePort'), 'utf8').split('\n');
  const result = await lighthouse(url, { port: Number(port), logLevel: 'error' }, config);
  const error = result?.lhr.runtimeError;
  if (error?.code === 'NO_NAVSTART' && attempts > 1) return runLighthouse(url, config, attempts - 1);
  if (!result || error) throw new Error(`Lighthouse: ${error?.message ?? 'no result'}`);
  return result.lhr;
}

/** Each run uses a new browser profile. */
async function auditOnce(url: string, config: Config | undefined): Promise<LighthouseReport> {
  const { audits, categories } = await runLighthouse(url, config);
  const scores = Object.fromEntries(
    CATEGORIES.map((category) => [category, Math.round((categories[category]?.score ?? NaN) * 100)]),
  ) as Record<Category, number>;
  const faults = Object.values(audits).flatMap(({ id, score, scoreDisplayMode, title, displayValue = '' }) =>
    score !== null && score < 0.9 && scoreDisplayMode !== 'informative' ? [`${id}: ${title} ${displayValue}`.trim()] : [],
  );
  const readAudit = (id: string): number => audits[id]?.numericValue ?? NaN;
  return {
    scores,
    faults,
    layoutShift: readAudit('cumulative-layout-shift'),
    lcp: readAudit('largest-contentful-paint'),
    tbt: readAudit('total-blocking-time'),
  };
}
