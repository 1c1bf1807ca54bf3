import type { Upstream, UpstreamRequest } from '../test-upstream.ts';
import type { VaultCopy } from './vault-copies.ts';
import type { WriterCall } from './writer-operations.ts';

interface JobRow {
  jobId: string;
  status: string;
}

/** Jobs that are due once, and what the model was asked for them: that is what a run does outside. */
export class JobTicks {
  readonly #upstream: Upstream;
  /** The job of each that was acknowledged, and when it was. */
  readonly #acknowledged = new Map<string, { jobId: string; acknowledgedAt: number }>();

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /** Adds a job that is due after `ms`. */
  async add(n: number, ms: number, call: WriterCall): Promise<void> {
    const message = `tick ${n}`;
    const schedule = { kind: 'at' as const, at: Date.now() + ms };
    const { jobId } = await call('cron.add', { schedule, message, name: message });
    this.#acknowledged.set(message, { jobId, acknowledgedAt: performance.now() });
  }

  /** How often the model was asked for each, acknowledged or not. */
  get countRequests(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { body } of this.#upstream.requests) {
      const message = getTick(body);
      if (message !== undefined) counts.set(message, (counts.get(message) ?? 0) + 1);
    }
    return counts;
  }

  /** Errors in a copy that was made after `at`. */
  findViolations({ records }: VaultCopy, at: number): string[] {
    const twice = [...this.countRequests].filter(([, count]) => count > 1).map(([message, count]) => `“${message}” was run ${count} times`);
    const lost = [...this.#acknowledged].filter(([, { jobId, acknowledgedAt }]) => acknowledgedAt <= at && !records.has(`jobs/${jobId}`));
    return [...twice, ...lost.map(([message, { jobId }]) => `the job of “${message}”, ${jobId}, was acknowledged and is not there`)];
  }

  /** Ticks without a record yet, or with a run in progress. */
  findOpen({ records }: VaultCopy): string[] {
    const over = new Set<string>();
    for (const [id, row] of records) {
      const { jobId, status } = row as JobRow;
      if (id.startsWith('jobRuns/') && status !== 'running') over.add(jobId);
    }
    return [...this.#acknowledged].filter(([, { jobId }]) => !over.has(jobId)).map(([message, { jobId }]) => `${message} (${jobId})`);
  }
}

function getTick(body: UpstreamRequest['body']): string | undefined {
  const { messages } = body ?? {};
  return Array.isArray(messages) ? /tick \d+/.exec(JSON.stringify(messages.at(-1)))?.[0] : undefined;
}
