import { toBase64 } from '#shared/base64.ts';
import { lines, pdf } from '../support/office-files.ts';
import { Caller } from './caller.ts';
import { startChild } from './child.ts';
import { atMost, type Figure } from './figures.ts';
import { startGateway } from './gateway.ts';
import { median } from './stats.ts';

const PAGES = 300;
const LINES = 50;
/** As many as one result has room for. */
const AT_ONCE = 12;

/** Maximum latency of `health` while an agent reads a PDF of 300 full pages, compared with an equally long idle period. */
export async function documents({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 1 : 5;
  const content = toBase64(await pdf(Array.from({ length: PAGES }, (_, index) => lines(index + 1, LINES))));
  // A separate process, so that its handling of requests of megabytes does not block the measurement.
  await using model = await startChild('reader');
  await using perch = await startGateway({ upstream: `http://127.0.0.1:${model.port}/v1` });
  using reader = await Caller.connect(perch.wsUrl, perch.token);
  using asker = await Caller.connect(perch.wsUrl, perch.token);
  const say = (message: string, more: Record<string, unknown> = {}): Promise<string> =>
    reader.call('chat.send', { message, model: 'bench/reader', ...more });
  await say('1-1', { attachments: [{ filename: 'a.pdf', mimeType: 'application/pdf', content }] });
  const [took, waits, idle]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const since = performance.now();
    const readAll = async (): Promise<void> => {
      for (let page = 1; page <= PAGES; page += AT_ONCE) await say(`${page}-${page + AT_ONCE - 1}`);
    };
    waits.push(await longest(asker, readAll()));
    took.push(performance.now() - since);
    idle.push(await longest(asker, new Promise((resolve) => setTimeout(resolve, took.at(-1)))));
  }
  // Delays by reading occur in each round, those by the machine only in some.
  const usual = median(waits);
  return [
    {
      what: `longest wait for an rpc, ${PAGES}-page PDF read, of ${rounds} rounds the median`,
      unit: 'ms',
      ours: usual,
      floor: { name: 'idle', value: median(idle) },
      bar: atMost(usual, 50, 'ms'),
    },
    { what: '  the longest of all rounds', unit: 'ms', ours: Math.max(...waits), floor: { name: 'idle', value: Math.max(...idle) } },
    { what: '  time of the whole reading', unit: 'ms', ours: median(took) },
  ];
}

/** The longest of the calls that are made one after the other until something is done. */
async function longest(caller: Caller, until: Promise<unknown>): Promise<number> {
  let done = false;
  let most = 0;
  const end = until.finally(() => (done = true));
  while (!done) {
    const since = performance.now();
    await caller.call('health', {});
    most = Math.max(most, performance.now() - since);
  }
  await end;
  return most;
}
