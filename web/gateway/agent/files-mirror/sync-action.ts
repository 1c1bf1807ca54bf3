/** Hashes of a file's bytes; null if the file does not exist. */
interface FileHashes {
  /** The sync baseline. */
  agreed: string | null;
  disk: string | null;
  vault: string | null;
}

/** Action for a file. `note`: both sides are equal, and only the baseline is updated. */
export type SyncAction = 'nothing' | 'note' | 'to-disk' | 'to-vault' | 'off-disk' | 'off-vault' | 'conflict';

/** Decides by three-way comparison: a change on one side is applied to the other, and an edit wins over a deletion. */
export function computeSyncAction({ agreed, disk, vault }: FileHashes): SyncAction {
  if (disk === vault) return agreed === disk ? 'nothing' : 'note';
  if (vault === null) return disk === agreed ? 'off-disk' : 'to-vault';
  if (disk === null) return vault === agreed ? 'off-vault' : 'to-disk';
  if (disk === agreed) return 'to-disk';
  return vault === agreed ? 'to-vault' : 'conflict';
}
