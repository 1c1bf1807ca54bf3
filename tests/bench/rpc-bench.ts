import { launchBrowser } from '../e2e/test-browser.ts';
import { SocketCaller } from './caller.ts';
import { startChild } from './child-process.ts';
import { toMinBar, toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import {
  measureConcurrent,
  measureInTurns,
  type LoadResult,
  computeMedian,
  computePercentile,
  computeMedianRatio,
  measureSequential,
} from './stats.ts';

const CALLER_COUNT = 64;
const REQUEST_FRAME = JSON.stringify({ type: 'req', id: '12345', method: 'health', params: {} });

/** One call at a time, 64 on one socket, and one on each of 64 sockets: `health` of Perch, compared with plain echoes. */
export async function benchRpc({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 3 : 10;
  const calls = quick ? 300 : 500;
  const burst = quick ? 3_000 : 8_000;

  await using echo = await startChild('echo');
  await using pipe = await startChild('pipe');
  await using browser = await launchBrowser();
  await browser.page(`http://127.0.0.1:${pipe.port}/`);
  await using perch = await startBenchGateway();

  const lines = async (connect: () => Promise<SocketCaller>): Promise<SocketCaller[]> =>
    Promise.all(Array.from({ length: CALLER_COUNT }, connect));
  const bare = await lines(() => SocketCaller.bare(`ws://127.0.0.1:${echo.port}/`));
  const piped = await lines(() => SocketCaller.piped(`ws://127.0.0.1:${pipe.port}/`));
  const ours = await lines(() => SocketCaller.connect(perch.wsUrl, perch.token));

  const [bareOne, pipedOne, oursOne] = [bare, piped, ours].map(([first]) => first);
  if (!bareOne || !pipedOne || !oursOne) throw new Error('there are no callers');
  const questions = {
    bare: () => bareOne.request(REQUEST_FRAME),
    piped: () => pipedOne.request(REQUEST_FRAME),
    ours: () => oursOne.call('health', {}),
  };
  for (const question of Object.values(questions))
    await measureConcurrent(
      2_000,
      Array.from({ length: 8 }, () => question),
    );

  const sequential = await measureInTurns(rounds, {
    bare: () => measureSequential(calls, questions.bare),
    piped: () => measureSequential(calls, questions.piped),
    ours: () => measureSequential(calls, questions.ours),
  });
  const onOne = await measureInTurns(rounds, {
    bare: () =>
      measureConcurrent(
        burst,
        Array.from({ length: CALLER_COUNT }, () => questions.bare),
      ),
    piped: () =>
      measureConcurrent(
        burst,
        Array.from({ length: CALLER_COUNT }, () => questions.piped),
      ),
    ours: () =>
      measureConcurrent(
        burst,
        Array.from({ length: CALLER_COUNT }, () => questions.ours),
      ),
  });
  const onMany = await measureInTurns(rounds, {
    bare: () =>
      measureConcurrent(
        burst,
        bare.map((line) => () => line.request(REQUEST_FRAME)),
      ),
    piped: () =>
      measureConcurrent(
        burst,
        piped.map((line) => () => line.request(REQUEST_FRAME)),
      ),
    ours: () =>
      measureConcurrent(
        burst,
        ours.map((line) => () => line.call('health', {})),
      ),
  });
  for (const line of [...bare, ...piped, ...ours]) line[Symbol.dispose]();

  const p50 = sequential.ours.map(computeMedian);
  const timeRatio = computeMedianRatio(p50, sequential.piped.map(computeMedian));
  const all = sequential.ours.flat();
  const pipedAll = sequential.piped.flat();
  return [
    { what: 'rpc, one caller, p50', unit: 'ms', ours: computeMedian(all), bar: toMaxBar(computeMedian(all), 0.5, 'ms') },
    {
      what: '  by the bare pipe and worker',
      unit: 'ms',
      ours: computeMedian(all),
      floor: { name: 'pipe', value: computeMedian(pipedAll) },
      ratio: timeRatio,
      bar: toMaxBar(timeRatio, 1.3, '×'),
    },
    {
      what: '  by the bare ws echo',
      unit: 'ms',
      ours: computeMedian(all),
      floor: { name: 'ws', value: computeMedian(sequential.bare.flat()) },
      ratio: computeMedianRatio(p50, sequential.bare.map(computeMedian)),
    },
    {
      what: 'rpc, one caller, p99',
      unit: 'ms',
      ours: computePercentile(all, 0.99),
      floor: { name: 'pipe', value: computePercentile(pipedAll, 0.99) },
    },
    ...toRateFigures('rpc, 64 at once on one socket', onOne),
    ...toRateFigures('rpc, 64 sockets', onMany),
  ];
}

function toRateFigures(what: string, results: Record<'bare' | 'piped' | 'ours', LoadResult[]>): Figure[] {
  const [ours, piped, bare] = [results.ours, results.piped, results.bare].map((loads) => loads.map(({ rate }) => rate)) as [
    number[],
    number[],
    number[],
  ];
  const ratio = computeMedianRatio(ours, piped);
  return [
    {
      what: `${what}, rate`,
      unit: '/s',
      ours: computeMedian(ours),
      floor: { name: 'pipe', value: computeMedian(piped) },
      ratio,
      bar: toMinBar(ratio, 0.75, '×'),
    },
    {
      what: '  by the bare ws echo',
      unit: '/s',
      ours: computeMedian(ours),
      floor: { name: 'ws', value: computeMedian(bare) },
      ratio: computeMedianRatio(ours, bare),
    },
    {
      what: '  p99',
      unit: 'ms',
      ours: computePercentile(
        results.ours.flatMap(({ samples }) => samples),
        0.99,
      ),
      floor: {
        name: 'pipe',
        value: computePercentile(
          results.piped.flatMap(({ samples }) => samples),
          0.99,
        ),
      },
    },
  ];
}
