import type { Vault } from '../../storage/vault-interface.ts';
import type { Lazy } from '../../system/modules.ts';
import type { Provenance } from '../knowledge/provenance/provenance.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { findCopies, labelNewMemories } from '../trust/file-sources.ts';
import type { TaintedCommands } from '../trust/tainted-commands.ts';
import type { FilesMirrorDeps } from './files-mirror.ts';

interface MirrorLabelsDeps {
  vault: { files: Pick<Vault['files'], 'get' | 'list'> };
  labels: ContentLabels;
  commands: Pick<TaintedCommands, 'getSources'>;
  provenance: Lazy<Provenance>;
}

/** Labels files that the mirror writes to the vault, and records which of them a person edited. */
export function createMirrorLabels(deps: MirrorLabelsDeps): Pick<FilesMirrorDeps, 'beforeImport' | 'beforeCopy'> {
  const { vault, labels, commands, provenance } = deps;
  return {
    async beforeImport(workspace, files) {
      const sources = await commands.getSources();
      const copies = await findCopies(deps, workspace, files);
      const own = files.flatMap(({ path }) => (copies.has(path) ? [] : path));
      for (const [path, copied] of copies) await labels.add('file', `${workspace}/${path}`, [...copied, ...sources]);
      await labels.replaceFiles(workspace, own, sources);
      for (const file of files) await labelNewMemories(deps, workspace, file, sources);
      if (sources.length > 0) return undefined;
      const { trackPersonEdit } = await import('../knowledge/provenance/person-edits.ts');
      return trackPersonEdit({ vault, provenance }, workspace, own);
    },
    async beforeCopy(workspace, copies) {
      for (const [path, copy] of copies)
        await labels.add('file', `${workspace}/${copy}`, await labels.getSources('file', `${workspace}/${path}`));
    },
  };
}
