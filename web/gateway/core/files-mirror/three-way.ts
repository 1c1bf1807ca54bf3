/** Hashes of a file's bytes; null: there is no file. */
export interface Versions {
  /** When the two agreed last. */
  agreed: string | null;
  disk: string | null;
  vault: string | null;
}

/** What is to be done with a file. `note`: they agree, which only has to be noted. */
export type Verdict = 'nothing' | 'note' | 'to-disk' | 'to-vault' | 'off-disk' | 'off-vault' | 'conflict';

/** What one side changed is taken; what one changed and the other deleted stays. */
export function verdictOn({ agreed, disk, vault }: Versions): Verdict {
  if (disk === vault) return agreed === disk ? 'nothing' : 'note';
  if (vault === null) return disk === agreed ? 'off-disk' : 'to-vault';
  if (disk === null) return vault === agreed ? 'off-vault' : 'to-disk';
  if (disk === agreed) return 'to-disk';
  return vault === agreed ? 'to-vault' : 'conflict';
}
