import type { FileEntry, FileRecord } from '#shared/rpc/methods/workspace.ts';
import { canonical } from '../canonical.ts';
import type { Clock } from '../clock.ts';
import { dialogDate } from '../memory/layout.ts';
import type { Dialogs } from '../memory/with-dialogs.ts';
import type { Vault } from '../vault.ts';

/** How often it is looked whether something was said: a day's file is written anew each time. */
const DIALOGS_MS = 5 * 60_000;
const MIME_TYPE = 'application/x-ndjson';

export interface MirroredFilesDeps {
  vault: Pick<Vault, 'files'>;
  clock: Pick<Clock, 'monotonic'>;
  dialogs: Dialogs;
}

/** What of a workspace is mirrored: its files, and its conversations as `dialog/`, which are made for it and taken from nowhere (docs/decisions/0051). */
export class MirroredFiles {
  readonly #deps: MirroredFilesDeps;
  readonly #workspace: string;
  #made: ReadonlyMap<string, FileEntry> = new Map();
  /** Days of which nothing is of these agents, as they were looked at. */
  readonly #empty = new Map<string, FileEntry>();
  #lookedAt: number | undefined;

  constructor(deps: MirroredFilesDeps, workspace: string) {
    this.#deps = deps;
    this.#workspace = workspace;
  }

  /** Looks from time to time what was said. True: something was, or is gone. */
  async haveDialogsChanged(): Promise<boolean> {
    const now = this.#deps.clock.monotonic();
    if (this.#lookedAt !== undefined && now - this.#lookedAt < DIALOGS_MS) return false;
    const days = await this.#deps.dialogs.days();
    const workspace = this.#workspace;
    const before = this.#made;
    this.#made = new Map(days.map((day) => [day.path, { ...day, workspace, mimeType: MIME_TYPE }]));
    this.#lookedAt = now;
    return canonical([...before.values()]) !== canonical([...this.#made.values()]);
  }

  /** Whether the file is made of conversations: one that a person has put there is none. */
  isMade(path: string): boolean {
    return this.#made.has(path);
  }

  async list(): Promise<FileEntry[]> {
    const own = (await this.#deps.vault.files.list(this.#workspace, '')).filter(({ path }) => !this.isMade(path));
    return [...own, ...[...this.#made.values()].filter((day) => !isSame(this.#empty.get(day.path), day))];
  }

  async get(path: string): Promise<FileRecord | undefined> {
    const day = this.#made.get(path);
    if (!day) return this.#deps.vault.files.get(this.#workspace, path);
    const content = await this.#deps.dialogs.read(dialogDate(path) ?? '');
    if (content === undefined) this.#empty.set(path, day);
    return content === undefined ? undefined : { ...day, key: `${this.#workspace}/${path}`, encoding: 'utf8', content };
  }
}

const isSame = (one: FileEntry | undefined, other: FileEntry): boolean => one?.size === other.size && one.modifiedAt === other.modifiedAt;
