import { toBase64 } from '#shared/base64.ts';
import { toPdfLines, createPdf } from '../support/office-files.ts';
import { SocketCaller } from './caller.ts';
import { startChild } from './child-process.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { computeMedian } from './stats.ts';

const PAGE_COUNT = 300;
const LINES_PER_PAGE = 50;
/** As many pages as fit into one result. */
const PAGES_PER_CALL = 12;

/** Maximum latency of `health` while an agent reads a PDF of 300 full pages, compared with an equally long idle period. */
export async function benchDocuments({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 1 : 5;
  const content = toBase64(await createPdf(Array.from({ length: PAGE_COUNT }, (_, index) => toPdfLines(index + 1, LINES_PER_PAGE))));
  // A separate process, so that handling large requests does not block the measurement.
  await using model = await startChild('reader');
  await using perch = await startBenchGateway({ upstream: `http://127.0.0.1:${model.port}/v1` });
  using reader = await SocketCaller.connect(perch.wsUrl, perch.token);
  using asker = await SocketCaller.connect(perch.wsUrl, perch.token);
  const sendMessage = (message: string, params: Record<string, unknown> = {}): Promise<string> =>
    reader.call('chat.send', { message, model: 'bench/reader', ...params });
  await sendMessage('1-1', { attachments: [{ filename: 'a.pdf', mimeType: 'application/pdf', content }] });
  const [readTimes, latencies, idle]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const since = performance.now();
    const readAll = async (): Promise<void> => {
      for (let page = 1; page <= PAGE_COUNT; page += PAGES_PER_CALL) await sendMessage(`${page}-${page + PAGES_PER_CALL - 1}`);
    };
    latencies.push(await measureLongestCall(asker, readAll()));
    readTimes.push(performance.now() - since);
    idle.push(await measureLongestCall(asker, new Promise((resolve) => setTimeout(resolve, readTimes.at(-1)))));
  }
  // Delays caused by reading occur in each round, those caused by the machine only in some.
  const usual = computeMedian(latencies);
  return [
    {
      what: `longest wait for an rpc, ${PAGE_COUNT}-page PDF read, of ${rounds} rounds the median`,
      unit: 'ms',
      ours: usual,
      floor: { name: 'idle', value: computeMedian(idle) },
      bar: toMaxBar(usual, 50, 'ms'),
    },
    { what: '  the longest of all rounds', unit: 'ms', ours: Math.max(...latencies), floor: { name: 'idle', value: Math.max(...idle) } },
    { what: '  time of the whole reading', unit: 'ms', ours: computeMedian(readTimes) },
  ];
}

/** Returns the longest latency of sequential calls made until the work is done. */
async function measureLongestCall(caller: SocketCaller, until: Promise<unknown>): Promise<number> {
  let done = false;
  let longestMs = 0;
  const end = until.finally(() => (done = true));
  while (!done) {
    const since = performance.now();
    await caller.call('health', {});
    longestMs = Math.max(longestMs, performance.now() - since);
  }
  await end;
  return longestMs;
}
