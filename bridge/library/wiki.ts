// `perch/memory/wiki` for Node: a wiki of claims in a folder.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { type ClaimsDisk, ClaimsManager as Claims, type ClaimsOptions } from '../../web/gateway/knowledge/wiki/claims-manager.ts';
import type { WikiConfig, WikiConfigInput } from '../../web/gateway/knowledge/wiki/wiki-config.ts';
import { HIDDEN_NAMES, WikiVault as Vault } from '../../web/gateway/knowledge/wiki/wiki-vault.ts';
import { readFileIfExists } from '../home-directory.ts';
import { folderWorkspace } from './folder-workspace.ts';

export { Claim, ClaimStatus, Evidence, type EvidenceInput } from '../../web/gateway/knowledge/wiki/claim.ts';
export type { ClaimChange, LineProblem } from '../../web/gateway/knowledge/wiki/claim-lines.ts';
export type { ImportReport } from '../../web/gateway/knowledge/wiki/claims-transfer.ts';
export { WikiConfig, type WikiConfigInput } from '../../web/gateway/knowledge/wiki/wiki-config.ts';
export type { Contradiction } from '../../web/gateway/knowledge/wiki/contradiction/contradiction.ts';
export type { Finding, HealthReport } from '../../web/gateway/knowledge/wiki/wiki-health.ts';
export type { Backlink } from '../../web/gateway/knowledge/wiki/wiki-links.ts';
export { WikiPage, type WikiPageInput } from '../../web/gateway/knowledge/wiki/wiki-page.ts';

/** Any file on disk, by an absolute path or one that begins with `./` or `../`. */
const diskFile: ClaimsDisk = {
  resolve: (path) => (isAbsolute(path) || /^\.{1,2}[/\\]/.test(path) ? resolve(path) : undefined),
  read: (path) => readFileIfExists(path),
  async write(path, text) {
    await mkdir(dirname(path), { recursive: true });
    // Writes in place: the path may be a link, or a device such as /dev/stdout.
    await writeFile(path, text, { mode: 0o600 });
  },
};

/** A wiki in a folder that can be opened in Obsidian. */
export class WikiVault extends Vault {
  /** Absolute path. */
  readonly vaultPath: string;

  /** Reads and creates nothing until it is used. */
  constructor(vaultPath: string, config: WikiConfig | WikiConfigInput | Record<string, unknown> = {}, options: ClaimsOptions = {}) {
    if (vaultPath.trim() === '') throw new Error('The vault folder must not be empty');
    const folder = resolve(vaultPath);
    super(folderWorkspace(folder, { hidden: HIDDEN_NAMES }), config, { disk: diskFile, ...options });
    this.vaultPath = folder;
  }
}

/** The claims of a wiki. */
export class ClaimsManager extends Claims {
  /**
   * `claimsDir`: folder of the claims, `<vault>/.perch-wiki/claims`. Exports with a plain name are written to the vault, those with a path
   * anywhere.
   */
  constructor(claimsDir: string, options: ClaimsOptions = {}) {
    const folder = resolve(claimsDir);
    const vault = dirname(dirname(folder));
    const dir = relative(vault, folder).split(sep).join('/');
    super(folderWorkspace(vault, { hidden: [dir.split('/')[0] ?? ''] }), dir, { disk: diskFile, ...options });
  }
}
