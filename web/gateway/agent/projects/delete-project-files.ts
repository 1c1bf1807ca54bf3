import { getProjectWorkspace, type ProjectRecord } from '../../storage/records/project-record.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { ContentLabels } from '../trust/content-labels.ts';

/** Deletes the files of a project, their earlier versions, and the labels of its files and memories. */
export async function deleteProjectFiles(
  project: ProjectRecord,
  { vault, labels }: { vault: Pick<Vault, 'files' | 'collection'>; labels: ContentLabels },
): Promise<void> {
  const workspace = getProjectWorkspace(project);
  for (const { path } of await vault.files.list(workspace, '')) await vault.files.remove(workspace, path);
  const versions = vault.collection('fileVersions');
  for (const id of await versions.keys(`${workspace}/`)) await versions.remove(id);
  for (const kind of ['file', 'memory'] as const)
    for (const name of (await labels.list(kind, `${workspace}/`)).keys()) await labels.remove(kind, name);
}
