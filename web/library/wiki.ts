// `perch/memory/wiki` for browsers: a wiki of claims in IndexedDB (docs/decisions/0037).
import { ClaimsManager as Claims, type ClaimsOptions } from '../gateway/knowledge/wiki/claims-manager.ts';
import type { WikiConfig, WikiConfigInput } from '../gateway/knowledge/wiki/wiki-config.ts';
import { HIDDEN_NAMES, WikiVault as Vault } from '../gateway/knowledge/wiki/wiki-vault.ts';
import { databaseWorkspace } from './database-workspace.ts';
import { toDatabaseName } from './workspace-database.ts';

export { Claim, ClaimStatus, Evidence, type EvidenceInput } from '../gateway/knowledge/wiki/claim.ts';
export type { ClaimChange, LineProblem } from '../gateway/knowledge/wiki/claim-lines.ts';
export type { ImportReport } from '../gateway/knowledge/wiki/claims-transfer.ts';
export { WikiConfig, type WikiConfigInput } from '../gateway/knowledge/wiki/wiki-config.ts';
export type { Contradiction } from '../gateway/knowledge/wiki/contradiction/contradiction.ts';
export type { Finding, HealthReport } from '../gateway/knowledge/wiki/wiki-health.ts';
export type { Backlink } from '../gateway/knowledge/wiki/wiki-links.ts';
export { WikiPage, type WikiPageInput } from '../gateway/knowledge/wiki/wiki-page.ts';

/** A wiki in a database of the browser. */
export class WikiVault extends Vault {
  /** The database's name. */
  readonly vaultPath: string;

  /** Nothing is read or created before the first call. */
  constructor(vaultPath: string, config: WikiConfig | WikiConfigInput | Record<string, unknown> = {}, options: ClaimsOptions = {}) {
    const name = toDatabaseName(vaultPath);
    super(databaseWorkspace(name, { hidden: HIDDEN_NAMES }), config, options);
    this.vaultPath = name;
  }
}

/** The claims of a wiki, without its pages. */
export class ClaimsManager extends Claims {
  /** `claimsDir`: the vault's name and the folder of the claims in it, `<vault>/.perch-wiki/claims`. Exports are written into the vault. */
  constructor(claimsDir: string, options: ClaimsOptions = {}) {
    const names = toDatabaseName(claimsDir).split('/');
    const [folder = '', claims = ''] = names.splice(-2);
    super(databaseWorkspace(names.join('/'), { hidden: [folder] }), `${folder}/${claims}`, options);
  }
}
