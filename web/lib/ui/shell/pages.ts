import AppWindow from '@lucide/svelte/icons/app-window';
import Archive from '@lucide/svelte/icons/archive';
import BookOpen from '@lucide/svelte/icons/book-open';
import BookOpenCheck from '@lucide/svelte/icons/book-open-check';
import Bot from '@lucide/svelte/icons/bot';
import Boxes from '@lucide/svelte/icons/boxes';
import Brain from '@lucide/svelte/icons/brain';
import CalendarClock from '@lucide/svelte/icons/calendar-clock';
import ChartColumn from '@lucide/svelte/icons/chart-column';
import Highlighter from '@lucide/svelte/icons/highlighter';
import ListTodo from '@lucide/svelte/icons/list-todo';
import MessagesSquare from '@lucide/svelte/icons/messages-square';
import Moon from '@lucide/svelte/icons/moon';
import RadioTower from '@lucide/svelte/icons/radio-tower';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import SquareTerminal from '@lucide/svelte/icons/square-terminal';
import SquareSlash from '@lucide/svelte/icons/square-slash';
import Stethoscope from '@lucide/svelte/icons/stethoscope';
import Wrench from '@lucide/svelte/icons/wrench';

/** The pages beside the chats, in the groups of the sidebar. */
export const PAGE_GROUPS = [
  {
    name: 'Knowledge',
    pages: [
      { href: '/memory', label: 'Memory', icon: Brain },
      { href: '/wiki', label: 'Wiki', icon: BookOpen },
      { href: '/dreaming', label: 'Dreaming', icon: Moon },
    ],
  },
  {
    name: 'Work',
    pages: [
      { href: '/sessions', label: 'Chats', icon: MessagesSquare },
      { href: '/annotate', label: 'Annotate', icon: Highlighter },
      { href: '/browser', label: 'Browser', icon: AppWindow },
      { href: '/prompts', label: 'Prompts', icon: SquareSlash },
      { href: '/schedules', label: 'Schedules', icon: CalendarClock },
      { href: '/plans', label: 'Plans', icon: ListTodo },
      { href: '/approvals', label: 'Approvals', icon: ShieldCheck },
    ],
  },
  {
    name: 'Gateway',
    pages: [
      { href: '/agents', label: 'Agents', icon: Bot },
      { href: '/channels', label: 'Channels', icon: RadioTower },
      { href: '/models', label: 'Models', icon: Boxes },
      { href: '/tools', label: 'Tools', icon: Wrench },
      { href: '/skills', label: 'Skills', icon: BookOpenCheck },
      { href: '/usage', label: 'Usage', icon: ChartColumn },
      { href: '/logs', label: 'Logs', icon: ScrollText },
      { href: '/doctor', label: 'Doctor', icon: Stethoscope },
      { href: '/backups', label: 'Backups', icon: Archive },
      { href: '/console', label: 'Console', icon: SquareTerminal },
    ],
  },
] as const;
