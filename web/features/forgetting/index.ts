// Exports for other features.
export { default as ForgetButton } from './ForgetButton.svelte';

/** Card of an agent's proposal. */
export const loadForgetProposal = () => import('./ForgetProposal.svelte');
