import type { IconDefinition } from '@fortawesome/free-solid-svg-icons';
import {
  faArrowDown,
  faArrowLeft,
  faArrowRight,
  faArrowUp,
  faBars,
  faBrain,
  faCalendar,
  faCheck,
  faCircleCheck,
  faCircleInfo,
  faCircleQuestion,
  faCircleXmark,
  faClock,
  faCode,
  faComment,
  faCopy,
  faDatabase,
  faEye,
  faEyeSlash,
  faFile,
  faFilter,
  faFloppyDisk,
  faFolder,
  faFolderOpen,
  faGear,
  faHeart,
  faHouse,
  faImage,
  faKey,
  faLink,
  faLock,
  faMagnifyingGlass,
  faMicrophone,
  faMinus,
  faMusic,
  faPaperPlane,
  faPaste,
  faPause,
  faPenToSquare,
  faPlay,
  faPlus,
  faRobot,
  faSpinner,
  faStar,
  faStop,
  faTerminal,
  faTrash,
  faTriangleExclamation,
  faUnlock,
  faUser,
  faUsers,
  faVideo,
  faWandMagicSparkles,
  faXmark,
} from '@fortawesome/free-solid-svg-icons';
import { type Glyph, glyphOf, type IconOptions, svgElement } from './glyph.ts';

/** The names of the interface document. */
const NAMED = {
  plus: faPlus,
  minus: faMinus,
  xmark: faXmark,
  check: faCheck,
  edit: faPenToSquare,
  trash: faTrash,
  copy: faCopy,
  paste: faPaste,
  save: faFloppyDisk,
  'arrow-left': faArrowLeft,
  'arrow-right': faArrowRight,
  'arrow-up': faArrowUp,
  'arrow-down': faArrowDown,
  home: faHouse,
  menu: faBars,
  'circle-check': faCircleCheck,
  'circle-xmark': faCircleXmark,
  'triangle-exwarning': faTriangleExclamation,
  'circle-info': faCircleInfo,
  'circle-question': faCircleQuestion,
  comment: faComment,
  'paper-plane': faPaperPlane,
  microphone: faMicrophone,
  user: faUser,
  users: faUsers,
  gear: faGear,
  file: faFile,
  folder: faFolder,
  'folder-open': faFolderOpen,
  database: faDatabase,
  brain: faBrain,
  robot: faRobot,
  'wand-magic-sparkles': faWandMagicSparkles,
  image: faImage,
  video: faVideo,
  music: faMusic,
  play: faPlay,
  pause: faPause,
  stop: faStop,
  heart: faHeart,
  star: faStar,
  'magnifying-glass': faMagnifyingGlass,
  filter: faFilter,
  lock: faLock,
  unlock: faUnlock,
  key: faKey,
  clock: faClock,
  calendar: faCalendar,
  code: faCode,
  terminal: faTerminal,
  eye: faEye,
  'eye-slash': faEyeSlash,
  spinner: faSpinner,
  link: faLink,
} as const satisfies Record<string, IconDefinition>;

/** A glyph of Font Awesome Free (solid), by its name in interface document 2, section 4.3. */
export type FaIconName = keyof typeof NAMED | 'triangle-exclamation' | 'pen-to-square' | 'floppy-disk' | 'house' | 'bars';

function glyphFrom({ icon: [width, height, , , path] }: IconDefinition): Glyph {
  const paths = typeof path === 'string' ? [path] : path;
  return { width, height, parts: paths.map((d) => ['path', { d }]) };
}

/** By the names of the document, and by those that the set itself has. */
export const FA_GLYPHS: ReadonlyMap<string, Glyph> = new Map(
  Object.entries(NAMED).flatMap(([name, definition]) => {
    const glyph = glyphFrom(definition);
    return [...new Set([name, definition.iconName])].map((each) => [each, glyph] as const);
  }),
);

/**
 * An icon of set A, Font Awesome Free (interface document 2, section 4.3).
 * @returns an inline SVG that needs nothing from the network.
 * @throws RangeError where there is no such name, or the size is not a positive number.
 */
export const faIcon = (name: FaIconName, options: IconOptions = {}): SVGSVGElement =>
  svgElement(glyphOf(FA_GLYPHS, name, 'set A'), options);
