import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toMaxBar, type Figure } from './figures.ts';
import { findDescendants, measureGatewayMemory, listProcesses } from './process-memory.ts';
import { computeMedian } from './stats.ts';

const ROOT = join(import.meta.dirname, '../..');
const SETTLE_MS = 5_000;

interface StartResult {
  ms: number;
  /** Kilobytes, with each process's share of shared memory; null if the system doesn't report it. */
  memory: { bridge: number; browser: number } | null;
}

/** Time from `npm start`, with nothing left to build, to a serving gateway; and its memory while idle. */
export async function benchIdle({ quick }: { quick: boolean }): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), 'perch-bench-'));
  try {
    await measureStart(home, 0);
    const times: number[] = [];
    for (let i = 0; i < (quick ? 1 : 4); i++) times.push((await measureStart(home, 0)).ms);
    const { ms, memory } = await measureStart(home, SETTLE_MS);
    times.push(ms);
    const bare = await measureBareNode();
    const figures: Figure[] = [
      {
        what: '`npm start`, the second time, to serving',
        unit: 's',
        ours: computeMedian(times) / 1000,
        floor: { name: 'npm run', value: bare / 1000 },
        bar: toMaxBar(computeMedian(times) / 1000, 3, 's'),
      },
    ];
    if (memory) {
      figures.push(
        { what: 'idle memory of the bridge (PSS)', unit: 'MB', ours: memory.bridge / 1024 },
        { what: 'idle memory of the managed Chromium (PSS)', unit: 'MB', ours: memory.browser / 1024 },
      );
    }
    return figures;
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

/** Starts Perch like a person, waits for its three lines, then for `settleMs`, and measures the memory. */
async function measureStart(home: string, settleMs: number): Promise<StartResult> {
  const since = performance.now();
  const child = spawn('npm', ['start', '--silent', '--', '--port', '0'], {
    cwd: ROOT,
    env: { ...process.env, PERCH_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('npm cannot be started');
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'exit');
  const serves = new Promise<void>((done) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (/\/v1\b/.test(stdout)) done();
    });
  });
  try {
    const early = ended.then(([code]) => Promise.reject(new Error(`npm start ended (${String(code)}):\n${stderr}`)));
    early.catch(() => {});
    await Promise.race([serves, early]);
    const ms = performance.now() - since;
    if (settleMs === 0) return { ms, memory: null };
    await sleep(settleMs);
    return { ms, memory: measureTreeMemory(pid) };
  } finally {
    if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGTERM');
    await ended;
  }
}

/** Measures the time that npm and Node take to do nothing. */
async function measureBareNode(): Promise<number> {
  const since = performance.now();
  await once(spawn('npm', ['exec', '--silent', '--', 'node', '-e', '0'], { cwd: ROOT, stdio: 'ignore' }), 'exit');
  return performance.now() - since;
}

/** Kilobytes of the gateway below npm's process; null if the system doesn't report it. */
function measureTreeMemory(npm: number): StartResult['memory'] {
  try {
    const bridge = findDescendants(listProcesses(), npm).find(
      ({ command }) => /bridge\/cli\/main\.ts|perch\.js/.test(command) && !/^(sh|\/bin\/sh)\b/.test(command),
    );
    return bridge ? measureGatewayMemory(bridge.pid) : null;
  } catch {
    return null;
  }
}
