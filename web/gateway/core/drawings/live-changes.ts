import type { Change } from '#shared/canvas/change.ts';

/** What a change is known by. */
export type ChangeName = Pick<Change, 'id' | 'at'>;

/** What taking changes in comes to. */
export interface Outcome {
  /** Those of which something counts. */
  kept: Change[];
  /** Those taken before of which nothing counts any more. */
  spent: ChangeName[];
}

/** Of a drawing, which change each field of each shape stands in: without the values, which may be large. */
export class LiveChanges {
  /** By shape and field: when it was written last. */
  readonly #fields = new Map<string, Map<string, string>>();
  /** By shape and time: a change, how many of its fields count, and its length as JSON. */
  readonly #changes = new Map<string, ChangeName & { fields: number; chars: number }>();
  #chars = 0;

  /** Length of all that counts, as JSON. */
  get chars(): number {
    return this.#chars;
  }

  /** Shapes that there ever were, those that were removed too. */
  get shapes(): number {
    return this.#fields.size;
  }

  /** Takes changes in, as `Drawing.merge` does: in any order, and more than once. */
  take(changes: readonly Change[]): Outcome {
    const taken = new Map<string, Change>();
    const spent: ChangeName[] = [];
    for (const change of changes) {
      const { id, at, set } = change;
      const name = nameOf(change);
      if (this.#changes.has(name)) continue;
      const fields = this.#fields.get(id) ?? new Map<string, string>();
      let won = 0;
      for (const field of Object.keys(set)) {
        const before = fields.get(field);
        if (before !== undefined && before >= at) continue;
        fields.set(field, at);
        won++;
        if (before !== undefined) spent.push(...this.#lose(nameOf({ id, at: before })));
      }
      if (won === 0) continue;
      this.#fields.set(id, fields);
      const chars = JSON.stringify(change).length;
      this.#changes.set(name, { id, at, fields: won, chars });
      this.#chars += chars;
      taken.set(name, change);
    }
    const kept = [...taken.values()].filter((change) => this.#changes.has(nameOf(change)));
    return { kept, spent: spent.filter((change) => !taken.has(nameOf(change))) };
  }

  /** Whether it is the one by which a shape is gone. */
  isRemoval({ id, at, set }: Change): boolean {
    return set.removed === true && this.#fields.get(id)?.get('removed') === at;
  }

  /** Forgets shapes with all that became of them, and says what that was. */
  drop(ids: ReadonlySet<string>): ChangeName[] {
    if (ids.size === 0) return [];
    const gone = [...this.#changes.values()].filter(({ id }) => ids.has(id));
    for (const change of gone) {
      this.#changes.delete(nameOf(change));
      this.#chars -= change.chars;
    }
    for (const id of ids) this.#fields.delete(id);
    return gone;
  }

  /** A field of a change counts no more. */
  #lose(name: string): ChangeName[] {
    const change = this.#changes.get(name);
    if (!change || --change.fields > 0) return [];
    this.#changes.delete(name);
    this.#chars -= change.chars;
    return [change];
  }
}

const nameOf = ({ id, at }: ChangeName): string => `${id}/${at}`;
