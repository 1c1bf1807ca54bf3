import AppWindow from '@lucide/svelte/icons/app-window';
import Camera from '@lucide/svelte/icons/camera';
import Clipboard from '@lucide/svelte/icons/clipboard-paste';
import ImageUp from '@lucide/svelte/icons/image-up';
import Monitor from '@lucide/svelte/icons/monitor';
import ScreenShare from '@lucide/svelte/icons/screen-share';
import { canShareScreen, canUseCamera } from '#lib/studio/take-picture.ts';

/** Where a picture can come from, beside a drop. `name`: of the drawing that comes of it. */
export const SOURCES = [
  { id: 'file', label: 'Open a picture or drawing', icon: ImageUp, name: 'Picture', there: () => true },
  { id: 'paste', label: 'Paste a picture', icon: Clipboard, name: 'Pasted picture', there: () => true },
  { id: 'screen', label: 'Picture of a window or screen', icon: ScreenShare, name: 'Screenshot', there: canShareScreen },
  { id: 'desktop', label: 'Picture of the bridge’s desktop', icon: Monitor, name: 'Desktop', there: () => true },
  { id: 'browser', label: 'Picture of the agent’s browser', icon: AppWindow, name: 'Agent’s browser', there: () => true },
  { id: 'camera', label: 'Camera', icon: Camera, name: 'Photograph', there: canUseCamera },
] as const;
export type Source = (typeof SOURCES)[number];
