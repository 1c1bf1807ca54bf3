import { launchBrowser } from '../e2e/browser.ts';
import { Caller } from './caller.ts';
import { startChild } from './child.ts';
import { atLeast, atMost, type Figure } from './figures.ts';
import { startGateway } from './gateway.ts';
import { concurrent, inTurns, type Load, median, percentile, ratioOf, sequential } from './stats.ts';

const CALLERS = 64;
const QUESTION = JSON.stringify({ type: 'req', id: '12345', method: 'health', params: {} });

/** One call at a time, 64 on one socket, and one on each of 64 sockets: `health` of the product, compared with bare echoes. */
export async function rpc({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 3 : 10;
  const calls = quick ? 300 : 500;
  const burst = quick ? 3_000 : 8_000;

  await using echo = await startChild('echo');
  await using pipe = await startChild('pipe');
  await using browser = await launchBrowser();
  await browser.page(`http://127.0.0.1:${pipe.port}/`);
  await using perch = await startGateway();

  const lines = async (connect: () => Promise<Caller>): Promise<Caller[]> => Promise.all(Array.from({ length: CALLERS }, connect));
  const bare = await lines(() => Caller.bare(`ws://127.0.0.1:${echo.port}/`));
  const piped = await lines(() => Caller.piped(`ws://127.0.0.1:${pipe.port}/`));
  const ours = await lines(() => Caller.connect(perch.wsUrl, perch.token));

  const [bareOne, pipedOne, oursOne] = [bare, piped, ours].map(([first]) => first);
  if (!bareOne || !pipedOne || !oursOne) throw new Error('there are no callers');
  const questions = { bare: () => bareOne.ask(QUESTION), piped: () => pipedOne.ask(QUESTION), ours: () => oursOne.call('health', {}) };
  for (const question of Object.values(questions))
    await concurrent(
      2_000,
      Array.from({ length: 8 }, () => question),
    );

  const one = await inTurns(rounds, {
    bare: () => sequential(calls, questions.bare),
    piped: () => sequential(calls, questions.piped),
    ours: () => sequential(calls, questions.ours),
  });
  const onOne = await inTurns(rounds, {
    bare: () =>
      concurrent(
        burst,
        Array.from({ length: CALLERS }, () => questions.bare),
      ),
    piped: () =>
      concurrent(
        burst,
        Array.from({ length: CALLERS }, () => questions.piped),
      ),
    ours: () =>
      concurrent(
        burst,
        Array.from({ length: CALLERS }, () => questions.ours),
      ),
  });
  const onMany = await inTurns(rounds, {
    bare: () =>
      concurrent(
        burst,
        bare.map((line) => () => line.ask(QUESTION)),
      ),
    piped: () =>
      concurrent(
        burst,
        piped.map((line) => () => line.ask(QUESTION)),
      ),
    ours: () =>
      concurrent(
        burst,
        ours.map((line) => () => line.call('health', {})),
      ),
  });
  for (const line of [...bare, ...piped, ...ours]) line[Symbol.dispose]();

  const p50 = one.ours.map(median);
  const timeRatio = ratioOf(p50, one.piped.map(median));
  const all = one.ours.flat();
  const pipedAll = one.piped.flat();
  return [
    { what: 'rpc, one caller, p50', unit: 'ms', ours: median(all), bar: atMost(median(all), 0.5, 'ms') },
    {
      what: '  by the bare pipe and worker',
      unit: 'ms',
      ours: median(all),
      floor: { name: 'pipe', value: median(pipedAll) },
      ratio: timeRatio,
      bar: atMost(timeRatio, 1.3, '×'),
    },
    {
      what: '  by the bare ws echo',
      unit: 'ms',
      ours: median(all),
      floor: { name: 'ws', value: median(one.bare.flat()) },
      ratio: ratioOf(p50, one.bare.map(median)),
    },
    { what: 'rpc, one caller, p99', unit: 'ms', ours: percentile(all, 0.99), floor: { name: 'pipe', value: percentile(pipedAll, 0.99) } },
    ...rates('rpc, 64 at once on one socket', onOne),
    ...rates('rpc, 64 sockets', onMany),
  ];
}

function rates(what: string, results: Record<'bare' | 'piped' | 'ours', Load[]>): Figure[] {
  const [ours, piped, bare] = [results.ours, results.piped, results.bare].map((loads) => loads.map(({ rate }) => rate)) as [
    number[],
    number[],
    number[],
  ];
  const ratio = ratioOf(ours, piped);
  return [
    {
      what: `${what}, rate`,
      unit: '/s',
      ours: median(ours),
      floor: { name: 'pipe', value: median(piped) },
      ratio,
      bar: atLeast(ratio, 0.75, '×'),
    },
    {
      what: '  by the bare ws echo',
      unit: '/s',
      ours: median(ours),
      floor: { name: 'ws', value: median(bare) },
      ratio: ratioOf(ours, bare),
    },
    {
      what: '  p99',
      unit: 'ms',
      ours: percentile(
        results.ours.flatMap(({ samples }) => samples),
        0.99,
      ),
      floor: {
        name: 'pipe',
        value: percentile(
          results.piped.flatMap(({ samples }) => samples),
          0.99,
        ),
      },
    },
  ];
}
