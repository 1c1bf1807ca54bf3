import ArrowUpRight from '@lucide/svelte/icons/move-up-right';
import Circle from '@lucide/svelte/icons/circle';
import Crop from '@lucide/svelte/icons/crop';
import Droplets from '@lucide/svelte/icons/droplets';
import Eraser from '@lucide/svelte/icons/eraser';
import Hand from '@lucide/svelte/icons/hand';
import Highlighter from '@lucide/svelte/icons/highlighter';
import ImageIcon from '@lucide/svelte/icons/image';
import MessageSquare from '@lucide/svelte/icons/message-square';
import MousePointer2 from '@lucide/svelte/icons/mouse-pointer-2';
import Pencil from '@lucide/svelte/icons/pencil';
import Pentagon from '@lucide/svelte/icons/pentagon';
import Slash from '@lucide/svelte/icons/slash';
import Square from '@lucide/svelte/icons/square';
import Star from '@lucide/svelte/icons/star';
import Type from '@lucide/svelte/icons/type';
import type { Component } from 'svelte';
import type { Kind } from '#shared/canvas/shape-fields.ts';
import type { StudioTool } from '#canvas/studio.ts';
import NumberedMarkerIcon from './NumberedMarkerIcon.svelte';
import RedactIcon from './RedactIcon.svelte';

type IconComponent = Component<{ size?: number | string }>;

export const TOOL_ICONS: Readonly<Record<StudioTool, IconComponent>> = {
  select: MousePointer2,
  hand: Hand,
  pen: Pencil,
  highlighter: Highlighter,
  rect: Square,
  ellipse: Circle,
  line: Slash,
  arrow: ArrowUpRight,
  polygon: Pentagon,
  star: Star,
  text: Type,
  marker: NumberedMarkerIcon,
  callout: MessageSquare,
  redact: RedactIcon,
  blur: Droplets,
  erase: Eraser,
  crop: Crop,
};

export const KIND_ICONS: Readonly<Record<Kind, IconComponent>> = {
  rect: Square,
  ellipse: Circle,
  line: Slash,
  arrow: ArrowUpRight,
  polygon: Pentagon,
  star: Star,
  path: Pentagon,
  pen: Pencil,
  highlighter: Highlighter,
  text: Type,
  marker: NumberedMarkerIcon,
  callout: MessageSquare,
  image: ImageIcon,
  redaction: RedactIcon,
  blur: Droplets,
};
