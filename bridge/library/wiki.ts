// `perch/memory/wiki` for Node: a wiki of claims in a folder (interface document 2, section 4.6).
import { dirname, relative, resolve, sep } from 'node:path';
import { ClaimsManager as Claims, type ClaimsOptions } from '../../web/gateway/core/wiki/claims-manager.ts';
import type { WikiConfig, WikiConfigInput } from '../../web/gateway/core/wiki/config.ts';
import { HIDDEN, WikiVault as Vault } from '../../web/gateway/core/wiki/vault.ts';
import { folderWorkspace } from './folder-workspace.ts';

export { Claim, ClaimStatus, Evidence, type EvidenceInput } from '../../web/gateway/core/wiki/claim.ts';
export type { ClaimChange, LineProblem } from '../../web/gateway/core/wiki/claim-lines.ts';
export type { ImportReport } from '../../web/gateway/core/wiki/claims-transfer.ts';
export { WikiConfig, type WikiConfigInput } from '../../web/gateway/core/wiki/config.ts';
export type { Contradiction } from '../../web/gateway/core/wiki/contradiction/contradiction.ts';
export type { Finding, HealthReport } from '../../web/gateway/core/wiki/health.ts';
export type { Backlink } from '../../web/gateway/core/wiki/links.ts';
export { WikiPage, type WikiPageInput } from '../../web/gateway/core/wiki/page.ts';

/** A wiki in a folder, which Obsidian opens as it is. */
export class WikiVault extends Vault {
  /** Absolute. */
  readonly vaultPath: string;

  /** Nothing is read or made before it is asked for. */
  constructor(vaultPath: string, config: WikiConfig | WikiConfigInput | Record<string, unknown> = {}, options: ClaimsOptions = {}) {
    if (vaultPath.trim() === '') throw new Error('The vault folder must not be empty');
    const folder = resolve(vaultPath);
    super(folderWorkspace(folder, { hidden: HIDDEN }), config, options);
    this.vaultPath = folder;
  }
}

/** The claims of a wiki by themselves. */
export class ClaimsManager extends Claims {
  /** `claimsDir`: the folder of the claims, `<vault>/.perch-wiki/claims`. Exports are written into the vault, by names from there. */
  constructor(claimsDir: string, options: ClaimsOptions = {}) {
    const folder = resolve(claimsDir);
    const vault = dirname(dirname(folder));
    const dir = relative(vault, folder).split(sep).join('/');
    super(folderWorkspace(vault, { hidden: [dir.split('/')[0] ?? ''] }), dir, options);
  }
}
