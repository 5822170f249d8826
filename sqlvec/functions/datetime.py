"""Date and time functions.

A moment is a whole number of milliseconds since noon, 24 November 4714 BC (proleptic Gregorian): the *Julian millisecond count*
``jd``, 0 .. 464269060799999.  Parsing gives civil fields first; as long as nothing needs the count they stay as written, which is
why date('2023-02-30') echoes its input while date('2023-02-30', '+0 days') normalises it.

:class:`Moment` keeps both forms with flags saying which is current; modifiers change one and drop the other.
Manual: "Date And Time Functions".
"""
from __future__ import annotations

import time as system_time

from sqlvec.functions.printf import printf
from sqlvec.values.numeric_text import number_of_text
from sqlvec.values.storage import cast_to_text
from sqlvec.values.text import lower, until_nul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.functions.registry import FunctionContext
    from sqlvec.values.storage import Value

DAY = 86400000
EPOCH = 210866760000000
LAST = 464269060799999
_SPACE = " \t\n\v\f\r"

# unit -> (limit of the number, milliseconds of one)
_UNITS = {
    "second": (4.6427e14, 1000.0),
    "minute": (7.7379e12, 60000.0),
    "hour": (1.2897e11, 3600000.0),
    "day": (5373485.0, 86400000.0),
    "month": (176546.0, 2592000000.0),
    "year": (14713.0, 31536000000.0),
}


class Invalid(Exception):
    """The arguments are no moment; the function answers NULL."""


class Moment:
    """``jd`` (current when ``has_jd``), civil date (``has_date``), time of day (``has_time``), zone minutes (``has_zone``).

    ``raw`` marks a number whose meaning is not settled yet; ``second`` holds it then.
    """

    __slots__ = (
        "day", "has_date", "has_jd", "has_time", "has_zone", "hour", "is_error", "is_utc", "jd", "minute", "month", "raw", "second", "year", "zone",
    )

    def __init__(self) -> None:
        self.jd = 0
        self.year, self.month, self.day = 2000, 1, 1
        self.hour = self.minute = self.zone = 0
        self.second = 0.0
        self.has_jd = self.has_date = self.has_time = self.has_zone = self.raw = self.is_utc = self.is_error = False

    def need_jd(self) -> None:
        """Compute the count from the civil fields."""
        if self.has_jd:
            return
        year, month, day = (self.year, self.month, self.day) if self.has_date else (2000, 1, 1)
        if year < -4713 or year > 9999 or self.raw:
            self.fail()
            return
        if month <= 2:
            year -= 1
            month += 12
        century = quotient(year, 100)
        leap = 2 - century + quotient(century, 4)
        days = quotient(36525 * (year + 4716), 100) + quotient(306001 * (month + 1), 10000) + day + leap
        self.jd = int((days - 1524.5) * 86400000.0)
        self.has_jd = True
        if self.has_time:
            self.jd += self.hour * 3600000 + self.minute * 60000 + int(self.second * 1000.0 + 0.5)
            if self.has_zone:
                self.jd -= self.zone * 60000
                self.has_date = self.has_time = self.has_zone = False

    def need_date(self) -> None:
        if self.has_date:
            return
        if not self.has_jd:
            self.year, self.month, self.day = 2000, 1, 1
        elif not 0 <= self.jd <= LAST:
            self.fail()
            return
        else:
            self.year, self.month, self.day = civil(self.jd)
        self.has_date = True

    def need_time(self) -> None:
        if self.has_time:
            return
        self.need_jd()
        rest = remainder(self.jd + 43200000, DAY)
        self.hour, rest = divmod(rest, 3600000)
        self.minute, rest = divmod(rest, 60000)
        self.second = rest / 1000.0
        self.has_time = True
        self.raw = False

    def fail(self) -> None:
        """Out of range: everything is zero and the answer is NULL, unless 'utc' or 'localtime' starts afresh from there."""
        self.__init__()  # type: ignore[misc]
        self.year = self.month = self.day = 0
        self.is_error = True

    def need_civil(self) -> None:
        self.need_date()
        self.need_time()

    def drop_civil(self) -> None:
        self.has_date = self.has_time = self.has_zone = False

    def set_jd(self, jd: int) -> None:
        self.drop_civil()
        self.jd = jd
        self.has_jd = True
        self.raw = False

    def copy(self) -> Moment:
        made = Moment()
        for name in Moment.__slots__:
            setattr(made, name, getattr(self, name))
        return made

    def add(self, milliseconds: int) -> None:
        """Move the count; one that could not be computed stays unknown."""
        self.drop_civil()
        self.jd += milliseconds
        self.raw = False


def quotient(number: int, divisor: int) -> int:
    """Division toward zero."""
    return -(-number // divisor) if number < 0 else number // divisor


def remainder(number: int, divisor: int) -> int:
    return number - quotient(number, divisor) * divisor


def civil(jd: int) -> tuple[int, int, int]:
    """Year, month, day of a count (Meeus' algorithm)."""
    days = (jd + 43200000) // DAY
    a = int((days - 1867216.25) / 36524.25)
    a = days + 1 + a - quotient(a, 4)
    b = a + 1524
    c = int((b - 122.1) / 365.25)
    d = 36525 * (c & 32767) // 100
    e = int((b - d) / 30.6001)
    month = e - 1 if e < 14 else e - 13
    return (c - 4716 if month > 2 else c - 4715), month, b - d - int(30.6001 * e)


# --- reading a time value --------------------------------------------------------------------------------------------------------


def _digits(text: str, position: int, count: int, low: int, high: int) -> int:
    """``count`` digits as a number between the bounds, else Invalid."""
    piece = text[position : position + count]
    if len(piece) != count or not (piece.isascii() and piece.isdigit()) or not low <= int(piece) <= high:
        raise Invalid
    return int(piece)


def _skip(text: str, position: int, characters: str = _SPACE) -> int:
    while position < len(text) and text[position] in characters:
        position += 1
    return position


def _read_zone(moment: Moment, text: str, position: int) -> None:
    """The rest of a time: nothing, Z, or an offset; spaces around."""
    position = _skip(text, position)
    mark = text[position : position + 1]
    if not mark:
        return
    if mark in "Zz":
        position += 1
    elif mark in "+-":
        hours = _digits(text, position + 1, 2, 0, 14)
        if text[position + 3 : position + 4] != ":":
            raise Invalid
        minutes = _digits(text, position + 4, 2, 0, 59)
        moment.zone = (hours * 60 + minutes) * (-1 if mark == "-" else 1)
        position += 6
    else:
        raise Invalid
    moment.is_utc = True
    if _skip(text, position) != len(text):
        raise Invalid


def _read_time(moment: Moment, text: str, position: int) -> None:
    """``HH:MM[:SS[.fff]][zone]`` up to the end of the text."""
    hour = _digits(text, position, 2, 0, 24)
    if text[position + 2 : position + 3] != ":":
        raise Invalid
    minute = _digits(text, position + 3, 2, 0, 59)
    position += 5
    second = 0.0
    if text[position : position + 1] == ":":
        second = float(_digits(text, position + 1, 2, 0, 59))
        position += 3
        if text[position : position + 1] == "." and text[position + 1 : position + 2].isdigit():
            position += 1
            fraction, scale = 0.0, 1.0
            while position < len(text) and text[position] in "0123456789":
                fraction = fraction * 10.0 + (ord(text[position]) - 48)
                scale *= 10.0
                position += 1
            second += fraction / scale
    moment.zone = 0
    _read_zone(moment, text, position)
    moment.has_jd = False
    moment.raw = False
    moment.has_time = True
    moment.hour, moment.minute, moment.second = hour, minute, second
    moment.has_zone = moment.zone != 0


def _read_date(moment: Moment, text: str) -> None:
    """``YYYY-MM-DD`` with an optional time."""
    start = 1 if text[:1] == "-" else 0
    year = _digits(text, start, 4, 0, 9999)
    if text[start + 4 : start + 5] != "-" or text[start + 7 : start + 8] != "-":
        raise Invalid
    month = _digits(text, start + 5, 2, 1, 12)
    day = _digits(text, start + 8, 2, 1, 31)
    position = _skip(text, start + 10, _SPACE + "T")
    if position < len(text):
        _read_time(moment, text, position)
    else:
        moment.has_time = False
    moment.has_jd = False
    moment.has_date = True
    moment.year = -year if start else year
    moment.month, moment.day = month, day
    if moment.has_zone:
        moment.need_jd()


def _read_number(moment: Moment, number: float) -> None:
    moment.second = number
    moment.raw = True
    if 0.0 <= number < 5373484.5:
        moment.jd = int(number * 86400000.0 + 0.5)
        moment.has_jd = True


def _read(context: FunctionContext, value: Value) -> Moment:
    moment = Moment()
    if type(value) is int or type(value) is float:
        _read_number(moment, float(value))
        return moment
    text = until_nul(cast_to_text(value))  # type: ignore[arg-type]
    for reader in (_read_date, _read_clock):
        try:
            reader(moment, text)
            return moment
        except Invalid:
            moment = Moment()
    if lower(text) == "now":
        moment.set_jd(context.now())
        return moment
    number = number_of_text(text)
    if number is None:
        raise Invalid
    _read_number(moment, float(number))
    return moment


def _read_clock(moment: Moment, text: str) -> None:
    _read_time(moment, text, 0)


# --- modifiers -------------------------------------------------------------------------------------------------------------------


def _modify(moment: Moment, modifier: str, number: int) -> None:
    """Apply modifier ``number`` (1-based)."""
    folded = lower(modifier)
    first = folded[:1]
    if first and first in "+-0123456789":
        _shift(moment, folded)
    elif folded in _NAMED:
        _NAMED[folded](moment, number)
    elif folded.startswith("weekday "):
        _to_weekday(moment, folded[8:])
    else:
        raise Invalid


def _auto(moment: Moment, number: int) -> None:
    if number > 1:
        raise Invalid
    if not moment.raw or moment.has_jd:
        moment.raw = False
    elif -210866760000.0 <= moment.second <= 253402300799.0:
        moment.set_jd(int(moment.second * 1000.0 + 210866760000000.0 + 0.5))
    else:
        raise Invalid


def _as_julian_day(moment: Moment, number: int) -> None:
    if number > 1 or not (moment.has_jd and moment.raw):
        raise Invalid
    moment.raw = False


def _as_unix_epoch(moment: Moment, number: int) -> None:
    if number > 1 or not moment.raw:
        raise Invalid
    count = moment.second * 1000.0 + 210866760000000.0
    if not 0.0 <= count < 464269060800000.0:
        raise Invalid
    moment.set_jd(int(count + 0.5))


def _start(moment: Moment) -> None:
    if not (moment.has_jd or moment.has_date or moment.has_time):
        raise Invalid
    moment.need_date()
    moment.has_time = True
    moment.hour = moment.minute = 0
    moment.second = 0.0
    moment.raw = moment.has_zone = moment.has_jd = False


def _start_of_day(moment: Moment, _number: int) -> None:
    _start(moment)


def _start_of_month(moment: Moment, _number: int) -> None:
    _start(moment)
    moment.day = 1


def _start_of_year(moment: Moment, _number: int) -> None:
    _start(moment)
    moment.month = moment.day = 1


def _local(moment: Moment) -> None:
    """Turn UTC into local civil time."""
    moment.need_jd()
    years = 0
    jd = moment.jd
    if not EPOCH <= jd <= 213014145600000:
        # Outside the range of old C libraries: the rules of a like year from 2000 on.
        other = moment.copy()
        other.need_civil()
        years = 2000 + remainder(other.year, 4) - other.year
        other.year += years
        other.has_jd = False
        other.need_jd()
        jd = other.jd
    broken = system_time.localtime(quotient(jd, 1000) - EPOCH // 1000)
    moment.year, moment.month, moment.day = broken.tm_year - years, broken.tm_mon, broken.tm_mday
    moment.hour, moment.minute = broken.tm_hour, broken.tm_min
    moment.second = broken.tm_sec + remainder(moment.jd, 1000) * 0.001
    moment.has_date = moment.has_time = True
    moment.has_jd = moment.raw = moment.has_zone = moment.is_error = False


def _to_local(moment: Moment, _number: int) -> None:
    _local(moment)


def _to_utc(moment: Moment, _number: int) -> None:
    """Find the count whose local time this is."""
    if moment.is_utc:
        return
    moment.need_jd()
    wanted = guess = moment.jd
    error = 0
    for _ in range(4):
        guess -= error
        trial = Moment()
        trial.set_jd(guess)
        _local(trial)
        trial.need_jd()
        error = trial.jd - wanted
        if not error:
            break
    moment.set_jd(guess)
    moment.is_error = False
    moment.is_utc = True


_NAMED = {
    "auto": _auto,
    "julianday": _as_julian_day,
    "unixepoch": _as_unix_epoch,
    "localtime": _to_local,
    "utc": _to_utc,
    "start of day": _start_of_day,
    "start of month": _start_of_month,
    "start of year": _start_of_year,
}


def _to_weekday(moment: Moment, text: str) -> None:
    """Forward to the next day of that number, 0 = Sunday."""
    wanted = number_of_text(text)
    if wanted is None or not 0 <= wanted < 7 or wanted != int(wanted):
        raise Invalid
    moment.need_civil()
    moment.has_zone = moment.has_jd = False
    moment.need_jd()
    weekday = quotient(moment.jd + 129600000, DAY) % 7
    if weekday > wanted:
        weekday -= 7
    moment.set_jd(moment.jd + (int(wanted) - weekday) * DAY)


def _shift(moment: Moment, text: str) -> None:
    """``NNN unit`` or ``[+-]HH:MM[:SS[.fff]]``."""
    end = 1
    while end < len(text) and text[end] != ":" and text[end] not in _SPACE:
        end += 1
    amount = number_of_text(text[:end])
    if amount is None:
        raise Invalid
    if text[end : end + 1] == ":":
        _shift_by_time(moment, text)
        return
    unit = text[_skip(text, end) :]
    if not 3 <= len(unit) <= 10:
        raise Invalid
    if unit[-1] == "s":
        unit = unit[:-1]
    moment.need_jd()
    amount = float(amount)
    limit, length = _UNITS.get(unit, (0.0, 0.0))
    if not -limit < amount < limit:
        raise Invalid
    rounder = -0.5 if amount < 0 else 0.5
    whole = int(amount)
    if unit == "month":
        moment.need_civil()
        moment.month += whole
        years = quotient(moment.month - 1, 12) if moment.month > 0 else quotient(moment.month - 12, 12)
        moment.year += years
        moment.month -= years * 12
        moment.has_jd = False
        amount -= whole
    elif unit == "year":
        moment.need_civil()
        moment.year += whole
        moment.has_jd = False
        amount -= whole
    moment.need_jd()
    moment.add(int(amount * length + rounder))


def _shift_by_time(moment: Moment, text: str) -> None:
    other = Moment()
    _read_time(other, text, 0 if text[0].isdigit() else 1)
    other.need_jd()
    distance = other.jd - 43200000
    distance -= quotient(distance, DAY) * DAY
    moment.need_jd()
    moment.add(-distance if text[0] == "-" else distance)


# --- the functions ---------------------------------------------------------------------------------------------------------------


def _moment(context: FunctionContext, arguments: tuple[Value, ...]) -> Moment | None:
    """The moment that the arguments of a function describe, None where the answer is NULL."""
    try:
        if not arguments:
            moment = Moment()
            moment.set_jd(context.now())
            return moment
        if None in arguments:
            return None
        moment = _read(context, arguments[0])
        for number, modifier in enumerate(arguments[1:], 1):
            _modify(moment, until_nul(cast_to_text(modifier)), number)  # type: ignore[arg-type]
        moment.need_jd()
        return moment if 0 <= moment.jd <= LAST and not moment.is_error else None
    except (Invalid, OverflowError, ValueError):
        return None


def _remembered(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Keep results by argument list: columns of dates repeat.  What depends on the clock or the time zone is computed each time."""
    known: dict[tuple[Value, ...], Any] = {}
    # Without a time value the time is now.
    least = 1 if compute.__name__ == "strftime" else 0

    def call(context: FunctionContext, *arguments: Value) -> Any:
        found = known.get(arguments, known)
        if found is not known:
            return found
        result = compute(context, *arguments)
        if len(arguments) > least and not any(isinstance(argument, str) and lower(argument) in _CHANGING for argument in arguments):
            if len(known) >= 4096:
                known.clear()
            known[arguments] = result
        return result

    return call


_CHANGING = frozenset(("now", "localtime", "utc"))


def _date_text(moment: Moment) -> str:
    moment.need_date()
    sign = "-" if moment.year < 0 else ""
    return f"{sign}{abs(moment.year):04d}-{moment.month:02d}-{moment.day:02d}"


def _time_text(moment: Moment) -> str:
    moment.need_time()
    return f"{moment.hour:02d}:{moment.minute:02d}:{int(moment.second):02d}"


@_remembered
def date(context: FunctionContext, *arguments: Value) -> str | None:
    moment = _moment(context, arguments)
    return None if moment is None else _date_text(moment)


@_remembered
def time(context: FunctionContext, *arguments: Value) -> str | None:
    moment = _moment(context, arguments)
    return None if moment is None else _time_text(moment)


@_remembered
def datetime(context: FunctionContext, *arguments: Value) -> str | None:
    moment = _moment(context, arguments)
    if moment is None:
        return None
    moment.need_civil()
    return _date_text(moment) + " " + _time_text(moment)


@_remembered
def julianday(context: FunctionContext, *arguments: Value) -> float | None:
    moment = _moment(context, arguments)
    return None if moment is None else moment.jd / 86400000.0


@_remembered
def unixepoch(context: FunctionContext, *arguments: Value) -> int | None:
    moment = _moment(context, arguments)
    return None if moment is None else moment.jd // 1000 - EPOCH // 1000


def current_date(context: FunctionContext) -> str | None:
    return date(context)


def current_time(context: FunctionContext) -> str | None:
    return time(context)


def current_timestamp(context: FunctionContext) -> str | None:
    return datetime(context)


@_remembered
def strftime(context: FunctionContext, *arguments: Value) -> str | None:
    if not arguments or arguments[0] is None:
        return None
    template = until_nul(cast_to_text(arguments[0]))  # type: ignore[arg-type]
    moment = _moment(context, arguments[1:])
    if moment is None:
        return None
    moment.need_civil()
    pieces = []
    position = 0
    while True:
        start = template.find("%", position)
        if start < 0:
            pieces.append(template[position:])
            return "".join(pieces)
        pieces.append(template[position:start])
        piece = _FIELDS.get(template[start + 1 : start + 2])
        if piece is None:
            return None
        pieces.append(piece(moment))
        position = start + 2


def _day_of_year(moment: Moment) -> int:
    """0-based."""
    first = Moment()
    first.year, first.month, first.day = moment.year, 1, 1
    first.hour, first.minute, first.second = moment.hour, moment.minute, moment.second
    first.has_date = first.has_time = True
    first.need_jd()
    return (moment.jd - first.jd + 43200000) // DAY


def _seconds(moment: Moment) -> str:
    return f"{min(moment.second, 59.999):06.3f}"


def _week(moment: Moment) -> str:
    weekday = (moment.jd + 43200000) // DAY % 7
    return f"{(_day_of_year(moment) + 7 - weekday) // 7:02d}"


_FIELDS = {
    "d": lambda moment: f"{moment.day:02d}",
    "f": _seconds,
    "H": lambda moment: f"{moment.hour:02d}",
    "j": lambda moment: f"{(_day_of_year(moment) + 1):03d}",
    "J": lambda moment: printf("%.16g", moment.jd / 86400000.0) or "",
    "m": lambda moment: f"{moment.month:02d}",
    "M": lambda moment: f"{moment.minute:02d}",
    "s": lambda moment: str(moment.jd // 1000 - EPOCH // 1000),
    "S": lambda moment: f"{int(moment.second):02d}",
    "w": lambda moment: str((moment.jd + 129600000) // DAY % 7),
    "W": _week,
    "Y": lambda moment: f"{moment.year:04d}",
    "%": lambda moment: "%",
}
