import { toPagePath } from '../../../knowledge/wiki/page-path.ts';
import { CLAIMS_DIR } from '../../../knowledge/wiki/wiki-vault.ts';

/** Folder of a workspace's wiki; with a bridge it is mirrored to `<home>/workspaces/<name>/wiki`. */
export const WIKI_FOLDER = 'wiki';

/** Name of a page in labels of files (`ContentLabels`), by its path with or without `.md`. */
export const toPageLabel = (workspace: string, path: string): string => `${workspace}/${WIKI_FOLDER}/${toPagePath(path)}`;

/** Name of a claim's file in labels of files, by the claim's id. */
export const toClaimLabel = (workspace: string, claimId: string): string => `${workspace}/${WIKI_FOLDER}/${CLAIMS_DIR}/${claimId}.jsonl`;
