import AppWindow from '@lucide/svelte/icons/app-window';
import Camera from '@lucide/svelte/icons/camera';
import Clipboard from '@lucide/svelte/icons/clipboard-paste';
import ImageUp from '@lucide/svelte/icons/image-up';
import Monitor from '@lucide/svelte/icons/monitor';
import ScreenShare from '@lucide/svelte/icons/screen-share';
import { isDemo } from '#app/state/demo.ts';
import { m } from '#app/i18n/messages.ts';
import { canShareScreen, canUseCamera } from './capture-picture.ts';

/** Sources of images, apart from dropping a file. `name`: title of the new drawing. */
export const PICTURE_SOURCES = [
  { id: 'file', label: () => m.annotate_source_file(), icon: ImageUp, name: () => m.annotate_picture(), isAvailable: () => true },
  {
    id: 'paste',
    label: () => m.annotate_source_paste(),
    icon: Clipboard,
    name: () => m.annotate_pasted_picture(),
    isAvailable: () => true,
  },
  {
    id: 'screen',
    label: () => m.annotate_source_screen(),
    icon: ScreenShare,
    name: () => m.annotate_screenshot(),
    isAvailable: canShareScreen,
  },
  { id: 'desktop', label: () => m.annotate_source_desktop(), icon: Monitor, name: () => m.annotate_desktop(), isAvailable: () => true },
  {
    id: 'browser',
    label: () => m.annotate_source_browser(),
    icon: AppWindow,
    name: () => m.annotate_agents_browser(),
    // The demo has a drawn desktop, and no browser for agents.
    isAvailable: () => !isDemo,
  },
  { id: 'camera', label: () => m.annotate_source_camera(), icon: Camera, name: () => m.annotate_photograph(), isAvailable: canUseCamera },
] as const;
export type PictureSource = (typeof PICTURE_SOURCES)[number];
