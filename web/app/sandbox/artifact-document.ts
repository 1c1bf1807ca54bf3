import type { ArtifactKind } from '../markdown/artifacts.ts';
import guard from './guard.js?raw';

const SVG_STYLE = '<style>html,body{height:100%;margin:0}body{display:grid;place-items:center}svg{max-width:100%;max-height:100%}</style>';

/** A document for a `Sandbox` whose first script is the guard. */
export const withGuard = (html: string): string => `<!doctype html><meta charset="utf-8"><script>${guard}</script>${html}`;

/** Creates the document that shows an artifact. */
export const createArtifactDocument = (kind: ArtifactKind, code: string): string =>
  withGuard(kind === 'svg' ? SVG_STYLE + code.replace(/^\s*(?:<\?xml[^>]*>\s*|<!doctype[^>]*>\s*)*/i, '') : code);
