import type { Redactor } from '#shared/redact.ts';
import { isAtLeast, type LogLevel } from '#shared/rpc/log-level.ts';
import type { Clock } from '#shared/async/clock.ts';
import { GroupCommit } from '#shared/async/group-commit.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { LogRecord } from '../../storage/records/log-record.ts';

/** Maximum time in milliseconds that a line waits to be stored together with others. */
const COMMIT_DELAY_MS = 50;
/** Maximum number of lines kept in memory while the database fails; beyond it the oldest are dropped. */
const MAX_LINES = 1_000;

type LogFields = Record<string, unknown>;

/** The part of the log that the rest of the core uses. */
export type LogWriter = Pick<Log, 'write'>;

interface LogDeps {
  clock: Clock;
  store: Vault['logs'];
  /** Minimum level of lines to keep. */
  level(): LogLevel;
}

interface BufferedLine extends Omit<LogRecord, 'seq' | 'fields'> {
  fields: LogFields | undefined;
}

/**
 * The log. Writing never waits, throws or affects the caller: lines are stored in groups, up to 50 ms later, with secrets redacted, and are
 * kept in memory while the database fails.
 */
export class Log {
  readonly #deps: LogDeps;
  readonly #redactor = lazy(async () => new (await import('#shared/redact.ts')).Redactor());
  /** Includes earlier secrets: a text that contains one may arrive late. */
  readonly #secrets = new Set<string>();
  #lines: BufferedLine[] = [];
  /** Numbered and redacted, but not stored yet. */
  #unstored: LogRecord[] = [];
  #last: number | undefined;
  #problem: string | null = null;
  readonly #group: GroupCommit;

  constructor(deps: LogDeps) {
    this.#deps = deps;
    this.#group = new GroupCommit(deps.clock, COMMIT_DELAY_MS, () => this.#commit());
  }

  /** Writes a line. `fields`: additional plain values; errors are logged with their stack. */
  write(level: LogLevel, component: string, message: string, fields?: LogFields): void {
    const { clock } = this.#deps;
    if (!isAtLeast(level, this.#deps.level())) return;
    this.#lines.push({ at: clock.now(), level, component, message, fields });
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
    this.#group.schedule();
  }

  /** Redacts these secrets in all lines. */
  hide(secrets: Iterable<string>): void {
    for (const secret of secrets) this.#secrets.add(secret);
  }

  /** Returns a function that redacts these secrets, and everything that looks like one, in a text. */
  async redactor() {
    const redactor = await this.#redactor();
    redactor.addSecrets(this.#secrets);
    return redactor;
  }

  /** Reason why the newest lines are not stored; null if they are. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Lines that could not be stored, by number. */
  get unstored(): readonly LogRecord[] {
    return this.#unstored;
  }

  /** Stores pending lines. Never rejects. */
  flush(): Promise<void> {
    return this.#group.flush();
  }

  async #commit(): Promise<void> {
    const { store } = this.#deps;
    if (this.#lines.length + this.#unstored.length === 0) return;
    try {
      const redactor = await this.redactor();
      this.#last ??= (await store.span())?.last ?? 0;
      for (const line of this.#lines.splice(0)) this.#unstored.push({ seq: ++this.#last, ...redactLine(line, redactor) });
      this.#unstored.splice(0, this.#unstored.length - MAX_LINES);
      await store.append(this.#unstored);
      this.#unstored = [];
      this.#problem = null;
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    }
  }
}

function redactLine({ fields, message, ...line }: BufferedLine, redactor: Redactor): Omit<LogRecord, 'seq'> {
  try {
    const redactedFields = fields && redactor.fields(fields);
    return { ...line, message: redactor.text(message), ...(redactedFields ? { fields: redactedFields } : {}) };
  } catch {
    // A value that cannot be read must not affect the other lines of its group.
    return { ...line, message: 'An event could not be recorded' };
  }
}
