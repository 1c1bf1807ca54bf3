import { MAX_OUTPUT_BYTES } from '#shared/ports/exec-port.ts';
import type { ExecRecord } from '../../storage/vault-interface.ts';

/** Number of newest commands whose full output is kept; older ones keep `TRIMMED_CHARS` of each stream. */
const FULL_OUTPUT_COUNT = 20;
const TRIMMED_CHARS = 8 * 1024;

export type OutputName = 'stdout' | 'stderr';

/** Output of a running command so far. */
export class CommandOutput {
  readonly #texts = { stdout: '', stderr: '' };
  #truncated = false;

  /** Appends a piece of output and returns its offset; null if the limit is exceeded, since a bridge could send more than allowed. */
  add(stream: OutputName, text: string): number | null {
    const offset = this.#texts[stream].length;
    if (offset + text.length > MAX_OUTPUT_BYTES) {
      this.#truncated = true;
      return null;
    }
    this.#texts[stream] += text;
    return offset;
  }

  get length(): number {
    return this.#texts.stdout.length + this.#texts.stderr.length;
  }

  /** The output as fields of a request. */
  get fields(): { stdout: string; stderr: string; truncated?: true } {
    return { ...this.#texts, ...(this.#truncated ? { truncated: true } : {}) };
  }
}

/**
 * The record with less output and without long scripts, if its age and size require that; else undefined. `index`: index from the newest.
 */
export function trimRecord(record: ExecRecord, index: number): ExecRecord | undefined {
  const { stdout = '', stderr = '', scripts = [] } = record;
  if (index < FULL_OUTPUT_COUNT) return undefined;
  const isLong = Math.max(stdout.length, stderr.length) > TRIMMED_CHARS;
  const hasLongScript = scripts.some(({ text = '' }) => text.length > TRIMMED_CHARS);
  if (!isLong && !hasLongScript) return undefined;
  return {
    ...record,
    ...(isLong ? { stdout: stdout.slice(0, TRIMMED_CHARS), stderr: stderr.slice(0, TRIMMED_CHARS), truncated: true } : {}),
    ...(hasLongScript
      ? { scripts: scripts.map(({ text, ...script }) => (text && text.length <= TRIMMED_CHARS ? { ...script, text } : script)) }
      : {}),
  };
}
