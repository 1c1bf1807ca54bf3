import type { Change } from '#shared/canvas/change.ts';

/** Identifies a change. */
export type ChangeName = Pick<Change, 'id' | 'at'>;

/** Result of adding changes. */
interface AddResult {
  /** Added changes with at least one effective field. */
  effective: Change[];
  /** Earlier changes with no effective field left. */
  obsolete: ChangeName[];
}

/** Tracks which change holds the current value of each field of each shape, without the values, which may be large. */
export class LiveChanges {
  /** Time of the last write, by shape and field. */
  readonly #fields = new Map<string, Map<string, string>>();
  /** By shape and time: a change, the number of its effective fields, and its length as JSON. */
  readonly #changes = new Map<string, ChangeName & { fields: number; chars: number }>();
  #chars = 0;

  /** Total length of the effective changes as JSON. */
  get chars(): number {
    return this.#chars;
  }

  /** Number of shapes, including removed ones. */
  get shapes(): number {
    return this.#fields.size;
  }

  /** Adds changes, like `Drawing.merge`: in any order, and repeatedly. */
  add(changes: readonly Change[]): AddResult {
    const added = new Map<string, Change>();
    const overridden: ChangeName[] = [];
    for (const change of changes) {
      const { id, at, set } = change;
      const name = toName(change);
      if (this.#changes.has(name)) continue;
      const fields = this.#fields.get(id) ?? new Map<string, string>();
      let wonFields = 0;
      for (const field of Object.keys(set)) {
        const before = fields.get(field);
        if (before !== undefined && before >= at) continue;
        fields.set(field, at);
        wonFields++;
        if (before !== undefined) overridden.push(...this.#overrideField(toName({ id, at: before })));
      }
      if (wonFields === 0) continue;
      this.#fields.set(id, fields);
      const chars = JSON.stringify(change).length;
      this.#changes.set(name, { id, at, fields: wonFields, chars });
      this.#chars += chars;
      added.set(name, change);
    }
    const effective = [...added.values()].filter((change) => this.#changes.has(toName(change)));
    return { effective, obsolete: overridden.filter((change) => !added.has(toName(change))) };
  }

  /** Whether it is the change that removed its shape. */
  isRemoval({ id, at, set }: Change): boolean {
    return set.removed === true && this.#fields.get(id)?.get('removed') === at;
  }

  /** Forgets shapes with all their changes, and returns these. */
  removeShapes(ids: ReadonlySet<string>): ChangeName[] {
    if (ids.size === 0) return [];
    const removed = [...this.#changes.values()].filter(({ id }) => ids.has(id));
    for (const change of removed) {
      this.#changes.delete(toName(change));
      this.#chars -= change.chars;
    }
    for (const id of ids) this.#fields.delete(id);
    return removed;
  }

  /** Marks one field of a change as overridden. */
  #overrideField(name: string): ChangeName[] {
    const change = this.#changes.get(name);
    if (!change || --change.fields > 0) return [];
    this.#changes.delete(name);
    this.#chars -= change.chars;
    return [change];
  }
}

const toName = ({ id, at }: ChangeName): string => `${id}/${at}`;
