import type { Redactor } from '#shared/redact.ts';
import { isAtLeast, type LogLevel } from '#shared/rpc/log-level.ts';
import type { Clock } from '../clock.ts';
import { GroupCommit } from '../group-commit.ts';
import { lazy } from '../lazy.ts';
import type { LogRecord, Vault } from '../vault.ts';

/** Milliseconds that a line waits at most for others to be stored with. */
const GROUP_MS = 50;
/** Lines kept in memory while the database takes none; beyond that the oldest are given up. */
const KEPT = 1_000;

export type Fields = Record<string, unknown>;

/** What the parts of the core write to. */
export type LogWriter = Pick<Log, 'write'>;

export interface LogDeps {
  clock: Clock;
  store: Vault['logs'];
  /** Lines below it are not kept. */
  level(): LogLevel;
}

interface Line extends Omit<LogRecord, 'seq' | 'fields'> {
  fields: Fields | undefined;
}

/**
 * What is worth knowing later. Writing to it never waits, throws or fails what is told of: lines are stored together, up to 50 ms later, without the
 * secrets in them, and where the database takes none they are kept here.
 */
export class Log {
  readonly #deps: LogDeps;
  readonly #redactor = lazy(async () => new (await import('#shared/redact.ts')).Redactor());
  /** Secrets of before are secrets still: a text that holds one may come late. */
  readonly #secrets = new Set<string>();
  #lines: Line[] = [];
  /** Numbered, without secrets, and not stored. */
  #unstored: LogRecord[] = [];
  #last: number | undefined;
  #problem: string | null = null;
  readonly #group: GroupCommit;

  constructor(deps: LogDeps) {
    this.#deps = deps;
    this.#group = new GroupCommit(deps.clock, GROUP_MS, () => this.#commit());
  }

  /** Notes a line. `fields`: what else is to be known, as plain values; errors are told with their stack. */
  write(level: LogLevel, component: string, message: string, fields?: Fields): void {
    const { clock } = this.#deps;
    if (!isAtLeast(level, this.#deps.level())) return;
    this.#lines.push({ at: clock.now(), level, component, message, fields });
    if (this.#lines.length > KEPT) this.#lines.shift();
    this.#group.soon();
  }

  /** These never stand in the log, whoever writes them there. */
  hide(secrets: Iterable<string>): void {
    for (const secret of secrets) this.#secrets.add(secret);
  }

  /** What takes these secrets, and all that look like some, out of a text. */
  async redactor() {
    const redactor = await this.#redactor();
    redactor.learn(this.#secrets);
    return redactor;
  }

  /** Why the newest lines are not stored; null where they are. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Lines that could not be stored, by number. */
  get unstored(): readonly LogRecord[] {
    return this.#unstored;
  }

  /** Stores what waits. Never rejects. */
  flush(): Promise<void> {
    return this.#group.flush();
  }

  async #commit(): Promise<void> {
    const { store } = this.#deps;
    if (this.#lines.length + this.#unstored.length === 0) return;
    try {
      const redactor = await this.redactor();
      this.#last ??= (await store.span())?.last ?? 0;
      for (const line of this.#lines.splice(0)) this.#unstored.push({ seq: ++this.#last, ...redacted(line, redactor) });
      this.#unstored.splice(0, this.#unstored.length - KEPT);
      await store.append(this.#unstored);
      this.#unstored = [];
      this.#problem = null;
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    }
  }
}

function redacted({ fields, message, ...line }: Line, redactor: Redactor): Omit<LogRecord, 'seq'> {
  try {
    const told = fields && redactor.fields(fields);
    return { ...line, message: redactor.text(message), ...(told ? { fields: told } : {}) };
  } catch {
    // A value that cannot be read must not take the others of its group along.
    return { ...line, message: 'An event could not be recorded' };
  }
}
