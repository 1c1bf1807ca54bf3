// Exports for other features.
export { getSourceTitle, groupTools } from './tool-catalog.ts';
export { toMatcher, withLine } from './tool-patterns.ts';
