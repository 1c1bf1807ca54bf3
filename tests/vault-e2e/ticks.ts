import type { Upstream, UpstreamRequest } from '../upstream.ts';
import type { Copy } from './copies.ts';
import type { Call } from './operations.ts';

interface JobRow {
  jobId: string;
  status: string;
}

/** Jobs that are due once, and what the model was asked for them: that is what a run does outside. */
export class Ticks {
  readonly #upstream: Upstream;
  /** The job of each that was acknowledged, and when it was. */
  readonly #told = new Map<string, { jobId: string; told: number }>();

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /** Adds a job that is due after `ms`. */
  async add(n: number, ms: number, call: Call): Promise<void> {
    const message = `tick ${n}`;
    const schedule = { kind: 'at' as const, at: Date.now() + ms };
    const { jobId } = await call('cron.add', { schedule, message, name: message });
    this.#told.set(message, { jobId, told: performance.now() });
  }

  /** How often the model was asked for each, acknowledged or not. */
  get asked(): Map<string, number> {
    const asked = new Map<string, number>();
    for (const { body } of this.#upstream.requests) {
      const message = tickOf(body);
      if (message !== undefined) asked.set(message, (asked.get(message) ?? 0) + 1);
    }
    return asked;
  }

  /** Errors in a copy that was made after `at`. */
  complaints({ records }: Copy, at: number): string[] {
    const twice = [...this.asked].filter(([, count]) => count > 1).map(([message, count]) => `“${message}” was run ${count} times`);
    const lost = [...this.#told].filter(([, { jobId, told }]) => told <= at && !records.has(`jobs/${jobId}`));
    return [...twice, ...lost.map(([message, { jobId }]) => `the job of “${message}”, ${jobId}, was acknowledged and is not there`)];
  }

  /** Ticks without a record yet, or with a run in progress. */
  open({ records }: Copy): string[] {
    const over = new Set<string>();
    for (const [id, row] of records) {
      const { jobId, status } = row as JobRow;
      if (id.startsWith('jobRuns/') && status !== 'running') over.add(jobId);
    }
    return [...this.#told].filter(([, { jobId }]) => !over.has(jobId)).map(([message, { jobId }]) => `${message} (${jobId})`);
  }
}

function tickOf(body: UpstreamRequest['body']): string | undefined {
  const { messages } = body ?? {};
  return Array.isArray(messages) ? /tick \d+/.exec(JSON.stringify(messages.at(-1)))?.[0] : undefined;
}
