// Exports for other features.
export { default as RecallSummary } from './RecallSummary.svelte';
