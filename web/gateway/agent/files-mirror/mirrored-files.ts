import type { FileEntry } from '#shared/rpc/methods/workspace-contracts.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { Clock } from '#shared/async/clock.ts';
import { parseDialogDate } from '../../knowledge/memory/layout.ts';
import type { DialogSource } from '../../knowledge/memory/with-dialogs.ts';
import type { Vault } from '../../storage/vault-interface.ts';

/** Interval in milliseconds at which conversations are checked for changes; each change regenerates the file of a day. */
const DIALOG_CHECK_MS = 5 * 60_000;
const MIME_TYPE = 'application/x-ndjson';

export interface MirroredFilesDeps {
  vault: Pick<Vault, 'files'>;
  clock: Pick<Clock, 'monotonic'>;
  dialogs: DialogSource;
}

/**
 * The mirrored files of a workspace: its own files, and its conversations as generated files in `dialog/` that are never read back
 * (docs/decisions/0051).
 */
export class MirroredFiles {
  readonly #deps: MirroredFilesDeps;
  readonly #workspace: string;
  #generated: ReadonlyMap<string, FileEntry> = new Map();
  /** Days without conversations of these agents, as of their last check. */
  readonly #emptyDays = new Map<string, FileEntry>();
  #checkedAt: number | undefined;

  constructor(deps: MirroredFilesDeps, workspace: string) {
    this.#deps = deps;
    this.#workspace = workspace;
  }

  /** Checks periodically whether conversations have changed. */
  async haveDialogsChanged(): Promise<boolean> {
    const now = this.#deps.clock.monotonic();
    if (this.#checkedAt !== undefined && now - this.#checkedAt < DIALOG_CHECK_MS) return false;
    const days = await this.#deps.dialogs.days();
    const workspace = this.#workspace;
    const before = this.#generated;
    this.#generated = new Map(days.map((day) => [day.path, { ...day, workspace, mimeType: MIME_TYPE }]));
    this.#checkedAt = now;
    return toCanonicalJson([...before.values()]) !== toCanonicalJson([...this.#generated.values()]);
  }

  /** Whether a file is generated from conversations. False for a file that a user has put there. */
  isGenerated(path: string): boolean {
    return this.#generated.has(path);
  }

  async list(): Promise<FileEntry[]> {
    const own = (await this.#deps.vault.files.list(this.#workspace, '')).filter(({ path }) => !this.isGenerated(path));
    return [...own, ...[...this.#generated.values()].filter((day) => !isSame(this.#emptyDays.get(day.path), day))];
  }

  async get(path: string): Promise<FileRecord | undefined> {
    const day = this.#generated.get(path);
    if (!day) return this.#deps.vault.files.get(this.#workspace, path);
    const content = await this.#deps.dialogs.read(parseDialogDate(path) ?? '');
    if (content === undefined) this.#emptyDays.set(path, day);
    return content === undefined ? undefined : { ...day, key: `${this.#workspace}/${path}`, encoding: 'utf8', content };
  }
}

const isSame = (a: FileEntry | undefined, b: FileEntry): boolean => a?.size === b.size && a.modifiedAt === b.modifiedAt;
