export { default as Approvals } from './Approvals.svelte';
export { default as ComparedLink } from './ComparedLink.svelte';
export { default as ContextGauge } from './ContextGauge.svelte';
export { default as Files } from './Files.svelte';
export { default as Gone } from './Gone.svelte';
export { default as MessageList } from './MessageList.svelte';
export { default as Queue } from './Queue.svelte';
