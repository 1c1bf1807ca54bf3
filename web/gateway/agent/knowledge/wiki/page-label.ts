import { toPagePath } from '../../../knowledge/wiki/page-path.ts';

/** Folder of a workspace's wiki; with a bridge it is mirrored to `<home>/workspaces/<name>/wiki`. */
export const WIKI_FOLDER = 'wiki';

/** Name of a page in labels of files (`ContentLabels`), by its path with or without `.md`. */
export const toPageLabel = (workspace: string, path: string): string => `${workspace}/${WIKI_FOLDER}/${toPagePath(path)}`;
